// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

#include "buttons.h"

class QAction;
class QHBoxLayout;
class QLabel;

namespace gb::ui {

// The bar on top of a page: title, quiet actions, at most one primary button at the right.
class PageBar final : public QFrame
{
    Q_OBJECT

public:
    explicit PageBar(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void addWidget(QWidget* widget, int stretch = 0);
    void addAction(QAction* action, ButtonKind kind = ButtonKind::Normal);
    void addIcon(QAction* action); // an action that everybody knows by its icon
    void setPrimary(QAction* action);

private:
    QLabel* m_title = nullptr;
    QHBoxLayout* m_middle = nullptr;
    QHBoxLayout* m_actions = nullptr;
    QWidget* m_primary = nullptr;
    QHBoxLayout* m_layout = nullptr;
};

} // namespace gb::ui
