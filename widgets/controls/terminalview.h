// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QAbstractScrollArea>

#include "terminalscreen.h"

namespace gb::ui {

// A terminal to type into. Keys, pasted text and its size go out as signals, what the program writes comes in
// by write(). Ctrl with a letter goes to the program, Ctrl+Shift+C and V copy and paste, Ctrl+Tab leaves it.
class TerminalView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit TerminalView(QWidget* parent = nullptr);

    void write(std::string_view bytes);
    void reset();
    const TerminalScreen& screen() const { return m_screen; }
    QString selectedText() const;
    void paste();
    void copy() const;

Q_SIGNALS:
    void typed(const QByteArray& bytes);
    void resized(int rows, int columns);

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void inputMethodEvent(QInputMethodEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool focusNextPrevChild(bool) override { return false; } // Tab is for the program

private:
    struct Place
    {
        int line = 0;
        int column = 0;
        auto operator<=>(const Place&) const = default;
    };

    void measure();
    void updateBar();
    Place placeAt(QPoint point) const;
    void paintLine(QPainter& painter, int line, int top) const;
    void send(const QByteArray& bytes);

    TerminalScreen m_screen;
    double m_cellWidth = 8;
    int m_cellHeight = 16;
    Place m_anchor, m_end;
};

// What a key sends to the program; empty when it is not for it.
QByteArray terminalKey(const QKeyEvent& event, bool applicationCursor);

} // namespace gb::ui
