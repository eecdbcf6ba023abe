// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "pagebar.h"

#include <QAction>
#include <QHBoxLayout>

#include "labels.h"
#include "theme.h"

namespace gb::ui {

PageBar::PageBar(const QString& title, QWidget* parent) : QFrame(parent)
{
    m_title = makeLabel(title, TextRole::Title);
    m_middle = new QHBoxLayout;
    m_middle->setSpacing(space::s);
    m_middle->addStretch();
    m_actions = new QHBoxLayout;
    m_actions->setSpacing(space::s);
    m_layout = new QHBoxLayout(this);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(space::m);
    m_layout->addWidget(m_title);
    m_layout->addLayout(m_middle, 1);
    m_layout->addLayout(m_actions);
    setMinimumHeight(36);
}

void PageBar::setTitle(const QString& title)
{
    m_title->setText(title);
}

void PageBar::addWidget(QWidget* widget, int stretch)
{
    m_middle->insertWidget(m_middle->count() - 1, widget, stretch);
}

void PageBar::addAction(QAction* action, ButtonKind kind)
{
    m_actions->addWidget(makeActionButton(action, kind));
}

void PageBar::addIcon(QAction* action)
{
    auto* button = makeIconButton(action->property("gbIcon").toString(), action->text());
    button->setDefaultAction(action);
    const auto follow = [button, action] {
        button->setVisible(action->isVisible());
        button->setAccessibleName(action->text());
    };
    m_actions->addWidget(button);
    connect(action, &QAction::changed, button, follow);
}

void PageBar::setPrimary(QAction* action)
{
    delete m_primary;
    m_primary = makeActionButton(action, ButtonKind::Primary);
    m_layout->addWidget(m_primary);
}

} // namespace gb::ui
