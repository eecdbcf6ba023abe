// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "comingpage.h"

#include <QVBoxLayout>

#include <widgets/controls/emptystate.h>

#include "text.h"

namespace gb::ui {

ComingPage::ComingPage(const QString& id, const QString& title, const QString& iconName,
    const QString& sentence, const QString& command)
    : Page(id, title, iconName)
{
    auto* empty = new EmptyState(iconName, ShellText::tr("“%1” is not in this version").arg(title), sentence);
    if (!command.isEmpty())
        empty->setCommand(command);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(empty);
}

} // namespace gb::ui
