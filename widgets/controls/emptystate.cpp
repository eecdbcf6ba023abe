// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "emptystate.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "buttons.h"
#include "icons.h"
#include "labels.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {
namespace {

constexpr int lowPlace = 200;

} // namespace

EmptyState::EmptyState(
    const QString& iconName, const QString& title, const QString& sentence, QWidget* parent)
    : QWidget(parent), m_iconName(iconName)
{
    m_icon = new QLabel;
    m_icon->setAlignment(Qt::AlignCenter);
    m_title = makeLabel(title, TextRole::Heading);
    m_title->setAlignment(Qt::AlignCenter);
    m_title->setWordWrap(true);
    m_sentence = makeLabel(sentence, TextRole::Secondary);
    m_sentence->setAlignment(Qt::AlignCenter);
    m_sentence->setWordWrap(true);
    m_sentence->setMaximumWidth(440);
    m_column = new QVBoxLayout(this);
    m_column->setContentsMargins(space::m, space::xl, space::m, space::xl);
    m_column->setSpacing(space::s);
    m_column->addStretch(2);
    m_column->addWidget(m_icon);
    m_column->addWidget(m_title);
    // A row of its own: aligned in the column, it would get the height of a wider line. It takes all the
    // width it may have, so that a narrow place breaks the sentence instead of cutting it.
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(m_sentence, 100);
    row->addStretch(1);
    m_column->addLayout(row);
    m_column->addStretch(3);
    paintIcon();
    connect(&Theme::instance(), &Theme::changed, this, &EmptyState::paintIcon);
}

void EmptyState::paintIcon()
{
    if (!m_iconName.isEmpty())
        m_icon->setPixmap(iconPixmap(m_iconName, 40, tokens().disabled, devicePixelRatioF()));
}

// In a low place the words come first.
void EmptyState::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    const bool isLow = height() < lowPlace;
    m_icon->setVisible(!isLow);
    const auto edge = isLow ? space::xs : space::xl;
    m_column->setContentsMargins(space::m, edge, space::m, edge);
}

void EmptyState::setIcon(const QString& iconName)
{
    m_iconName = iconName;
    paintIcon();
}

void EmptyState::setTexts(const QString& title, const QString& sentence)
{
    m_title->setText(title);
    m_sentence->setText(sentence);
}

void EmptyState::setAction(const QString& text, std::function<void()> act, bool primary)
{
    if (!m_button) {
        if (text.isEmpty())
            return;
        m_button = makeButton(text, primary ? ButtonKind::Primary : ButtonKind::Normal);
        m_column->insertSpacing(m_column->count() - 1, space::s);
        m_column->insertWidget(m_column->count() - 1, m_button, 0, Qt::AlignHCenter);
    }
    m_button->disconnect(this);
    m_button->setText(text);
    m_button->setVisible(!text.isEmpty());
    if (act)
        connect(m_button, &QPushButton::clicked, this, std::move(act));
}

void EmptyState::setCommand(const QString& command)
{
    if (!m_command) {
        m_command = makeLabel({}, TextRole::Mono);
        m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        m_command->setAlignment(Qt::AlignCenter);
        m_command->setWordWrap(true);
        m_column->insertSpacing(m_column->count() - 1, space::xs);
        m_column->insertWidget(m_column->count() - 1, m_command);
    }
    m_command->setAccessibleName(ControlsText::tr("Command: %1").arg(command));
    m_command->setText(command);
}

} // namespace gb::ui
