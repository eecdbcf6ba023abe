// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QPushButton>
#include <QToolButton>

class QAction;

namespace gb::ui {

enum class ButtonKind { Normal, Primary, Danger, Link };

QPushButton* makeButton(
    const QString& text, ButtonKind kind = ButtonKind::Normal, const QString& iconName = {});
// A button that is, and stays, what the action says: text, icon, enabled, tool tip, hidden.
QPushButton* makeActionButton(QAction* action, ButtonKind kind = ButtonKind::Normal);
// A small flat button; the text is its accessible name and tool tip.
QToolButton* makeIconButton(const QString& iconName, const QString& text, QWidget* parent = nullptr);
// An action with an icon of the theme and a shortcut.
QAction* makeAction(
    QObject* parent, const QString& text, const QString& iconName, const QString& shortcut = {});

} // namespace gb::ui
