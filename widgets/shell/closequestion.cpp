// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "closequestion.h"

#include <QMessageBox>
#include <QPushButton>

#include <widgets/controls/numbers.h>

#include "text.h"

namespace gb::ui {

CloseAnswer askAboutAlive(QWidget* parent, const QList<AliveItem>& alive)
{
    QStringList names;
    double perHour = 0;
    for (const auto& item : alive) {
        names += item.title;
        perHour += item.costPerHour;
    }
    QMessageBox box(parent);
    box.setTextFormat(Qt::PlainText);
    box.setWindowTitle(ShellText::tr("Close the window"));
    box.setText(ShellText::tr("Still alive: %1").arg(names.mid(0, 5).join(QStringLiteral(", "))));
    box.setInformativeText(perHour > 0
            ? ShellText::tr("Kept running, this costs %1 per hour.").arg(moneyText(perHour))
            : ShellText::tr("Kept running, this costs nothing. A new window finds it again."));
    auto* keep = box.addButton(ShellText::tr("Keep it running"), QMessageBox::AcceptRole);
    auto* stop = box.addButton(ShellText::tr("Stop it"), QMessageBox::DestructiveRole);
    box.addButton(QMessageBox::Cancel);
    box.setDefaultButton(keep);
    box.exec();
    return box.clickedButton() == keep ? CloseAnswer::KeepRunning
        : box.clickedButton() == stop  ? CloseAnswer::Stop
                                       : CloseAnswer::Cancel;
}

} // namespace gb::ui
