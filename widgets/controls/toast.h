// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QFrame>

#include "tokens.h"

class QLabel;
class QPushButton;
class QTimer;

namespace gb::ui {

// A line over the bottom of its parent, gone by itself: "Model removed. [Undo]". It never takes the focus,
// and stays while the mouse is on it.
class Toast final : public QFrame
{
    Q_OBJECT

public:
    explicit Toast(QWidget* over);

    void show(Tone tone, const QString& text, int milliseconds = 6000);
    void showUndo(const QString& text, std::function<void()> undo, int milliseconds = 8000);

Q_SIGNALS:
    // The time to undo is over.
    void expired();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void place();

    QLabel* m_icon = nullptr;
    QLabel* m_text = nullptr;
    QPushButton* m_undo = nullptr;
    QTimer* m_timer = nullptr;
    std::function<void()> m_act;
};

} // namespace gb::ui
