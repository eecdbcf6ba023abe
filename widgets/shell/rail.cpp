// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "rail.h"

#include <QButtonGroup>
#include <QToolButton>
#include <QVBoxLayout>

#include <widgets/controls/icons.h>
#include <widgets/controls/theme.h>

namespace gb::ui {
namespace {

constexpr int railWidth = 84;

} // namespace

Rail::Rail(QWidget* parent) : QFrame(parent)
{
    setProperty("gbFrame", QStringLiteral("rail"));
    setMinimumWidth(railWidth);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    m_group = new QButtonGroup(this);
    m_group->setExclusive(true);
    m_layout = new QVBoxLayout(this);
    m_layout->setContentsMargins(space::s - 2, space::s, space::s - 1, space::s);
    m_layout->setSpacing(2);
    connect(m_group, &QButtonGroup::idClicked, this, &Rail::chosen);
}

void Rail::addPage(const QString& title, const QString& iconName, const QString& shortcut, bool atBottom)
{
    auto* button = new QToolButton;
    button->setProperty("gbKind", QStringLiteral("rail"));
    button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    button->setIcon(icon(iconName));
    button->setIconSize({20, 20});
    button->setText(title);
    button->setCheckable(true);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    button->setToolTip(QStringLiteral("%1 (%2)").arg(title, shortcut));
    button->setAccessibleName(title);
    button->setCursor(Qt::PointingHandCursor);
    button->setFocusPolicy(Qt::TabFocus);
    if (atBottom)
        m_layout->addStretch();
    m_layout->addWidget(button);
    m_group->addButton(button, static_cast<int>(m_group->buttons().size()));
}

void Rail::setCurrent(int index)
{
    if (auto* button = m_group->button(index))
        button->setChecked(true);
}

} // namespace gb::ui
