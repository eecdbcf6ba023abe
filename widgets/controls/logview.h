// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QAbstractScrollArea>
#include <QTimer>
#include <QWidget>

#include "logdocument.h"

class QLabel;
class QPushButton;

namespace gb::ui {

class FilterField;

// Paints the lines that are visible and nothing else.
class LogCanvas final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit LogCanvas(QWidget* parent = nullptr);

    void append(std::string_view bytes);
    void clear();
    const LogDocument& document() const { return m_document; }

    bool follows() const { return m_follow; }
    void setFollow(bool follow);
    void setNeedle(const QString& needle);
    // Scrolls to the next line that has the needle; looks at a slice at a time so that the window stays
    // alive.
    void findNext(int step);
    QString selectedText() const;

Q_SIGNALS:
    void followChanged(bool follow);
    void searchEnded(bool found);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Position
    {
        std::int64_t line = 0;
        int column = 0;
        auto operator<=>(const Position&) const = default;
    };

    void updateBars();
    void measure();
    int visibleLines() const;
    Position positionAt(QPoint point) const;
    void paintLine(QPainter& painter, std::int64_t number, int top);
    void searchSlice();
    void copySelection() const;

    LogDocument m_document;
    bool m_follow = true;
    int m_lineHeight = 16;
    double m_charWidth = 8;
    Position m_anchor, m_cursor;
    QString m_needle;
    std::int64_t m_found = -1;
    std::int64_t m_searchAt = -1;
    std::int64_t m_searchLeft = 0;
    int m_searchStep = 1;
    QTimer m_searching;
    bool m_barsStale = false;
};

// The canvas with its search field and a button that follows the end again.
class LogView final : public QWidget
{
    Q_OBJECT

public:
    explicit LogView(QWidget* parent = nullptr);

    void append(std::string_view bytes);
    void clear();
    LogCanvas* canvas() const { return m_canvas; }
    void find();

private:
    LogCanvas* m_canvas = nullptr;
    FilterField* m_search = nullptr;
    QLabel* m_status = nullptr;
    QPushButton* m_follow = nullptr;
};

} // namespace gb::ui
