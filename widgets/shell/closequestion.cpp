// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "closequestion.h"

#include <QCoreApplication>
#include <QMessageBox>
#include <QPushButton>

#include <widgets/controls/numbers.h>

namespace gb::ui {
namespace {

struct CloseText
{
    Q_DECLARE_TR_FUNCTIONS(gb_shell)
};

} // namespace

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
    box.setWindowTitle(CloseText::tr("Close the window"));
    box.setText(CloseText::tr("Still alive: %1").arg(names.mid(0, 5).join(QStringLiteral(", "))));
    box.setInformativeText(perHour > 0
            ? CloseText::tr("Kept running, this costs %1 per hour.").arg(moneyText(perHour))
            : CloseText::tr("Kept running, this costs nothing. A new window finds it again."));
    auto* keep = box.addButton(CloseText::tr("Keep it running"), QMessageBox::AcceptRole);
    auto* stop = box.addButton(CloseText::tr("Stop it"), QMessageBox::DestructiveRole);
    box.addButton(QMessageBox::Cancel);
    box.setDefaultButton(keep);
    box.exec();
    return box.clickedButton() == keep ? CloseAnswer::KeepRunning
        : box.clickedButton() == stop  ? CloseAnswer::Stop
                                       : CloseAnswer::Cancel;
}

} // namespace gb::ui
