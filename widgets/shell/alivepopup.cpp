// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "alivepopup.h"

#include <QVBoxLayout>

#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/home/alivecard.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int alivePopupWidth = 420;

} // namespace

AlivePopup::AlivePopup(api::Client& client, QWidget* over) : QFrame(over, Qt::Popup)
{
    setProperty("gbFrame", QStringLiteral("popup"));
    setAccessibleName(ShellText::tr("What is alive"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::m, space::m, space::m, space::m);
    layout->setSpacing(space::s);
    layout->addWidget(makeLabel(ShellText::tr("Alive now"), TextRole::Strong));
    layout->addWidget(new AliveCard(client));
}

void AlivePopup::openBelow(QWidget* anchor)
{
    setFixedWidth(alivePopupWidth);
    adjustSize();
    move(anchor->mapToGlobal(QPoint(0, anchor->height() + space::xs)));
    show();
}

} // namespace gb::ui
