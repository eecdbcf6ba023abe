// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>

#include "harmless.h"
#include "logview.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {
namespace {

constexpr int logMargin = space::s;
constexpr std::int64_t searchSliceLines = 20'000;
constexpr std::size_t longestPainted = 4000; // bytes of one line: nobody reads further to the right

QString lineText(std::string_view bytes)
{
    return harmless(QString::fromUtf8(bytes.substr(0, longestPainted).data(),
        static_cast<qsizetype>(std::min(bytes.size(), longestPainted))));
}

} // namespace

LogCanvas::LogCanvas(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(ControlsText::tr("Log"));
    viewport()->setCursor(Qt::IBeamCursor);
    measure();
    m_searching.setInterval(0);
    connect(&m_searching, &QTimer::timeout, this, &LogCanvas::searchSlice);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
        setFollow(value >= verticalScrollBar()->maximum());
        viewport()->update();
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        measure();
        updateBars();
        viewport()->update();
    });
}

void LogCanvas::measure()
{
    const QFontMetricsF metrics(Theme::instance().monospace());
    m_lineHeight = qCeil(metrics.height()) + 2;
    m_charWidth = metrics.horizontalAdvance(QLatin1Char('0'));
}

void LogCanvas::append(std::string_view bytes)
{
    m_document.append(bytes);
    if (m_barsStale)
        return;
    // Many small appends in one turn of the event loop cost one layout.
    m_barsStale = true;
    QTimer::singleShot(0, this, [this] {
        m_barsStale = false;
        updateBars();
        viewport()->update();
    });
}

void LogCanvas::clear()
{
    m_document.clear();
    m_anchor = m_cursor = {};
    m_found = -1;
    updateBars();
    viewport()->update();
}

void LogCanvas::setFollow(bool follow)
{
    if (follow == m_follow)
        return;
    m_follow = follow;
    if (follow)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    Q_EMIT followChanged(follow);
}

int LogCanvas::visibleLines() const
{
    return qMax(1, (viewport()->height() - logMargin) / m_lineHeight);
}

void LogCanvas::updateBars()
{
    const auto follow = m_follow;
    auto* bar = verticalScrollBar();
    bar->setPageStep(visibleLines());
    bar->setRange(0, static_cast<int>(qMax<std::int64_t>(0, m_document.lineCount() - visibleLines())));
    if (follow)
        bar->setValue(bar->maximum());
    setFollow(follow);
    const auto wide = static_cast<int>(
        qMin<std::int64_t>(m_document.longestLine(), longestPainted) * m_charWidth + 2 * logMargin);
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setRange(0, qMax(0, wide - viewport()->width()));
}

void LogCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), tokens().sunken);
    painter.setFont(Theme::instance().monospace());
    const auto first = verticalScrollBar()->value();
    const auto count = m_document.lineCount();
    for (std::int64_t i = 0; i <= visibleLines() && first + i < count; ++i)
        paintLine(painter, first + i, logMargin / 2 + static_cast<int>(i) * m_lineHeight);
}

void LogCanvas::paintLine(QPainter& painter, std::int64_t number, int top)
{
    const auto line = m_document.line(number);
    const auto left = logMargin - horizontalScrollBar()->value();
    const auto text = lineText(line.text);
    if (number == m_found)
        painter.fillRect(0, top, viewport()->width(), m_lineHeight, toneBackground(tokens(), Tone::Warning));

    const auto from = qMin(m_anchor, m_cursor);
    const auto to = qMax(m_anchor, m_cursor);
    if (from < to && number >= from.line && number <= to.line) {
        const auto begin = number == from.line ? from.column : 0;
        const auto end = number == to.line ? to.column : static_cast<int>(text.size()) + 1;
        painter.fillRect(QRectF(left + begin * m_charWidth, top, (end - begin) * m_charWidth, m_lineHeight),
            mixed(tokens().sunken, tokens().accent, 0.3));
    }
    if (!m_needle.isEmpty()) {
        for (auto at = text.indexOf(m_needle, 0, Qt::CaseInsensitive); at >= 0;
             at = text.indexOf(m_needle, at + m_needle.size(), Qt::CaseInsensitive))
            painter.fillRect(QRectF(left + static_cast<double>(at) * m_charWidth, top,
                                 static_cast<double>(m_needle.size()) * m_charWidth, m_lineHeight),
                mixed(tokens().sunken, tokens().warning, 0.35));
    }
    const auto paintRun = [&](std::size_t begin, std::size_t end, const AnsiStyle& style) {
        if (begin >= end)
            return;
        const auto piece = lineText(line.text.substr(begin, end - begin));
        const auto x = left + static_cast<double>(lineText(line.text.substr(0, begin)).size()) * m_charWidth;
        auto font = Theme::instance().monospace();
        font.setBold(style.bold);
        font.setItalic(style.italic);
        font.setUnderline(style.underline);
        painter.setFont(font);
        const auto [front, back] = ansiColors(style, tokens());
        if (back.isValid())
            painter.fillRect(
                QRectF(x, top, static_cast<double>(piece.size()) * m_charWidth, m_lineHeight), back);
        painter.setPen(style.faint && !back.isValid() ? tokens().secondary : front);
        painter.drawText(QPointF(x, top + QFontMetricsF(font).ascent() + 1), piece);
    };
    const auto end = std::min(line.text.size(), longestPainted);
    if (line.styles.empty()) {
        paintRun(0, end, {});
        return;
    }
    paintRun(0, std::min<std::size_t>(line.styles.front().offset, end), {});
    for (std::size_t i = 0; i < line.styles.size(); ++i)
        paintRun(line.styles[i].offset,
            i + 1 < line.styles.size() ? std::min<std::size_t>(line.styles[i + 1].offset, end) : end,
            line.styles[i].style);
}

void LogCanvas::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateBars();
}

void LogCanvas::keyPressEvent(QKeyEvent* event)
{
    auto* bar = verticalScrollBar();
    if (event->matches(QKeySequence::Copy)) {
        copySelection();
    } else if (event->matches(QKeySequence::SelectAll)) {
        m_anchor = {};
        m_cursor = {m_document.lineCount(), 0};
        viewport()->update();
    } else if (event->key() == Qt::Key_End) {
        setFollow(true);
    } else if (event->key() == Qt::Key_Home) {
        bar->setValue(0);
    } else if (event->key() == Qt::Key_F3) {
        findNext(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    } else {
        QAbstractScrollArea::keyPressEvent(event);
    }
}

LogCanvas::Position LogCanvas::positionAt(QPoint point) const
{
    Position at;
    at.line = std::clamp<std::int64_t>(
        verticalScrollBar()->value() + (point.y() - logMargin / 2) / m_lineHeight, 0, m_document.lineCount());
    at.column = qMax(0, qRound((point.x() - logMargin + horizontalScrollBar()->value()) / m_charWidth));
    at.column = qMin(at.column, static_cast<int>(lineText(m_document.text(at.line)).size()));
    return at;
}

void LogCanvas::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    m_cursor = positionAt(event->pos());
    if (!(event->modifiers() & Qt::ShiftModifier))
        m_anchor = m_cursor;
    viewport()->update();
}

void LogCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (!(event->buttons() & Qt::LeftButton))
        return;
    m_cursor = positionAt(event->pos());
    if (event->pos().y() < 0)
        verticalScrollBar()->setValue(verticalScrollBar()->value() - 1);
    else if (event->pos().y() > viewport()->height())
        verticalScrollBar()->setValue(verticalScrollBar()->value() + 1);
    viewport()->update();
}

QString LogCanvas::selectedText() const
{
    const auto from = qMin(m_anchor, m_cursor);
    const auto to = qMax(m_anchor, m_cursor);
    QStringList lines;
    for (auto line = from.line; line <= to.line && line < m_document.lineCount(); ++line) {
        const auto bytes = m_document.text(line);
        auto text = QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size()));
        if (line == to.line)
            text.truncate(to.column);
        if (line == from.line)
            text.remove(0, from.column);
        lines += text;
    }
    return lines.join(QLatin1Char('\n'));
}

void LogCanvas::copySelection() const
{
    QGuiApplication::clipboard()->setText(selectedText());
}

void LogCanvas::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    menu.addAction(ControlsText::tr("Copy"), this, &LogCanvas::copySelection)
        ->setEnabled(m_anchor != m_cursor);
    menu.addAction(ControlsText::tr("Follow the end"), this, [this] { setFollow(true); })
        ->setEnabled(!m_follow);
    menu.exec(event->globalPos());
}

void LogCanvas::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        measure();
}

void LogCanvas::setNeedle(const QString& needle)
{
    m_needle = needle;
    m_found = -1;
    viewport()->update();
    if (!needle.isEmpty())
        findNext(1);
}

void LogCanvas::findNext(int step)
{
    if (m_needle.isEmpty())
        return;
    m_searchStep = step;
    m_searchAt = m_found >= 0 ? m_found + step : verticalScrollBar()->value();
    m_searchLeft = m_document.lineCount();
    m_searching.start();
}

void LogCanvas::searchSlice()
{
    const auto count = m_document.lineCount();
    const auto needle = m_needle.toUtf8();
    if (count > 0)
        m_searchAt = (m_searchAt % count + count) % count; // wraps around either end
    const auto room = m_searchStep > 0 ? count - m_searchAt : m_searchAt + 1;
    const auto slice = std::min({searchSliceLines, m_searchLeft, room});
    const auto found = m_document.findLine(
        {needle.constData(), static_cast<std::size_t>(needle.size())}, m_searchAt, m_searchStep, slice);
    m_searchAt += m_searchStep * slice;
    m_searchLeft -= slice;
    if (found < 0 && m_searchLeft > 0)
        return;
    m_searching.stop();
    if (found >= 0) {
        m_found = found;
        setFollow(false);
        if (found < verticalScrollBar()->value() || found >= verticalScrollBar()->value() + visibleLines())
            verticalScrollBar()->setValue(static_cast<int>(found) - visibleLines() / 3);
    }
    viewport()->update();
    Q_EMIT searchEnded(found >= 0);
}

} // namespace gb::ui
