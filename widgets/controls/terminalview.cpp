// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "terminalview.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>

#include "text.h"
#include "theme.h"

namespace gb::ui {
namespace {

constexpr int firstRows = 24;
constexpr int firstColumns = 80;
constexpr int terminalMargin = 6;

QByteArray cursorKey(char letter, Qt::KeyboardModifiers modifiers, bool application)
{
    const int code = 1 + (modifiers.testFlag(Qt::ShiftModifier) ? 1 : 0)
        + (modifiers.testFlag(Qt::AltModifier) ? 2 : 0) + (modifiers.testFlag(Qt::ControlModifier) ? 4 : 0);
    if (code > 1)
        return "\x1b[1;" + QByteArray::number(code) + letter;
    return QByteArray(application ? "\x1bO" : "\x1b[") + letter;
}

} // namespace

QByteArray terminalKey(const QKeyEvent& event, bool applicationCursor)
{
    const auto modifiers = event.modifiers();
    const auto key = event.key();
    switch (key) {
    case Qt::Key_Up:
        return cursorKey('A', modifiers, applicationCursor);
    case Qt::Key_Down:
        return cursorKey('B', modifiers, applicationCursor);
    case Qt::Key_Right:
        return cursorKey('C', modifiers, applicationCursor);
    case Qt::Key_Left:
        return cursorKey('D', modifiers, applicationCursor);
    case Qt::Key_Home:
        return cursorKey('H', modifiers, applicationCursor);
    case Qt::Key_End:
        return cursorKey('F', modifiers, applicationCursor);
    case Qt::Key_Insert:
        return "\x1b[2~";
    case Qt::Key_Delete:
        return "\x1b[3~";
    case Qt::Key_PageUp:
        return "\x1b[5~";
    case Qt::Key_PageDown:
        return "\x1b[6~";
    case Qt::Key_Backspace:
        return "\x7f";
    case Qt::Key_Backtab:
        return "\x1b[Z";
    case Qt::Key_Return:
    case Qt::Key_Enter:
        return "\r";
    default:
        break;
    }
    if (modifiers.testFlag(Qt::ControlModifier) && !modifiers.testFlag(Qt::AltModifier)) {
        if (key >= Qt::Key_A && key <= Qt::Key_Z)
            return QByteArray(1, static_cast<char>(key - Qt::Key_A + 1));
        if (key == Qt::Key_Space)
            return QByteArray(1, '\0');
        if (key >= Qt::Key_BracketLeft && key <= Qt::Key_Underscore)
            return QByteArray(1, static_cast<char>(key - Qt::Key_BracketLeft + 0x1b));
        return {};
    }
    const auto text = event.text().toUtf8();
    return modifiers.testFlag(Qt::AltModifier) && !text.isEmpty() ? "\x1b" + text : text;
}

TerminalView::TerminalView(QWidget* parent) : QAbstractScrollArea(parent), m_screen(firstRows, firstColumns)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_InputMethodEnabled);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setCursor(Qt::IBeamCursor);
    setAccessibleName(ControlsText::tr("Terminal"));
    measure();
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        measure();
        viewport()->update();
    });
    connect(verticalScrollBar(), &QScrollBar::valueChanged, viewport(), qOverload<>(&QWidget::update));
}

void TerminalView::measure()
{
    const QFontMetricsF metrics(Theme::instance().monospace());
    m_cellWidth = metrics.horizontalAdvance(QLatin1Char('M'));
    m_cellHeight = qCeil(metrics.height());
    const auto size = viewport()->size();
    const auto rows = qMax(1, (size.height() - 2 * terminalMargin) / m_cellHeight);
    const auto columns = qMax(2, static_cast<int>((size.width() - 2 * terminalMargin) / m_cellWidth));
    if (rows != m_screen.rows() || columns != m_screen.columns()) {
        m_screen.resize(rows, columns);
        Q_EMIT resized(m_screen.rows(), m_screen.columns());
    }
    updateBar();
}

void TerminalView::updateBar()
{
    auto* bar = verticalScrollBar();
    const bool atEnd = bar->value() == bar->maximum();
    const auto past = m_screen.onAlternate() ? 0 : m_screen.pastCount();
    bar->setPageStep(m_screen.rows());
    bar->setRange(0, past);
    if (atEnd)
        bar->setValue(past);
}

void TerminalView::write(std::string_view bytes)
{
    m_screen.write(bytes);
    updateBar();
    viewport()->update();
    if (const auto replies = m_screen.takeReplies(); !replies.empty())
        Q_EMIT typed(QByteArray::fromStdString(replies));
}

void TerminalView::reset()
{
    m_screen.clear();
    m_anchor = m_end = {};
    updateBar();
    viewport()->update();
}

void TerminalView::send(const QByteArray& bytes)
{
    verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    m_anchor = m_end;
    Q_EMIT typed(bytes);
}

bool TerminalView::event(QEvent* event)
{
    // The window's shortcuts with Ctrl and a letter belong to the program here; those with a digit stay.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool shift = key->modifiers().testFlag(Qt::ShiftModifier);
        const bool letter = key->key() >= Qt::Key_A && key->key() <= Qt::Key_Underscore;
        const bool plain = !key->modifiers().testFlag(Qt::ControlModifier)
            && (key->key() < Qt::Key_F1 || key->key() > Qt::Key_F12);
        if ((letter && !shift) || plain) {
            event->accept();
            return true;
        }
    }
    return QAbstractScrollArea::event(event);
}

void TerminalView::keyPressEvent(QKeyEvent* event)
{
    const auto both = Qt::ControlModifier | Qt::ShiftModifier;
    if (event->modifiers() == both && event->key() == Qt::Key_C)
        return copy();
    if ((event->modifiers() == both && event->key() == Qt::Key_V)
        || (event->modifiers() == Qt::ShiftModifier && event->key() == Qt::Key_Insert))
        return paste();
    if (event->key() == Qt::Key_Tab && event->modifiers() == Qt::ControlModifier) {
        QAbstractScrollArea::focusNextPrevChild(true);
        return;
    }
    if (event->modifiers() == Qt::ShiftModifier
        && (event->key() == Qt::Key_PageUp || event->key() == Qt::Key_PageDown)) {
        const auto step = event->key() == Qt::Key_PageUp ? -m_screen.rows() : m_screen.rows();
        verticalScrollBar()->setValue(verticalScrollBar()->value() + step);
        return;
    }
    if (const auto bytes = terminalKey(*event, m_screen.applicationCursor()); !bytes.isEmpty())
        send(bytes);
    else
        event->ignore();
}

void TerminalView::inputMethodEvent(QInputMethodEvent* event)
{
    if (!event->commitString().isEmpty())
        send(event->commitString().toUtf8());
    event->accept();
}

void TerminalView::paste()
{
    auto text = QApplication::clipboard()->text();
    text.replace(QStringLiteral("\r\n"), QStringLiteral("\n")).replace(QLatin1Char('\n'), QLatin1Char('\r'));
    // What is pasted is text: it may not end the paste by itself, nor press keys.
    text.removeIf([](QChar c) {
        return (c < QChar(0x20) && c != QLatin1Char('\r') && c != QLatin1Char('\t')) || c == QChar(0x7f);
    });
    if (text.isEmpty())
        return;
    send(m_screen.bracketedPaste() ? "\x1b[200~" + text.toUtf8() + "\x1b[201~" : text.toUtf8());
}

TerminalView::Place TerminalView::placeAt(QPoint point) const
{
    const auto first = m_screen.onAlternate() ? m_screen.pastCount() : verticalScrollBar()->value();
    const auto line = first + (point.y() - terminalMargin) / m_cellHeight;
    return {qBound(0, line, m_screen.lineCount() - 1),
        qBound(0, qRound((point.x() - terminalMargin) / m_cellWidth), m_screen.columns())};
}

void TerminalView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        m_anchor = m_end = placeAt(event->pos());
    viewport()->update();
}

void TerminalView::mouseMoveEvent(QMouseEvent* event)
{
    m_end = placeAt(event->pos());
    viewport()->update();
}

QString TerminalView::selectedText() const
{
    const auto from = std::min(m_anchor, m_end);
    const auto to = std::max(m_anchor, m_end);
    QString out;
    for (int i = from.line; i <= to.line && i < m_screen.lineCount(); ++i) {
        QString line;
        const auto& cells = m_screen.line(i);
        const auto begin = i == from.line ? from.column : 0;
        const auto end = i == to.line ? to.column : static_cast<int>(cells.size());
        for (int c = begin; c < qMin(end, static_cast<int>(cells.size())); ++c)
            if (!cells[static_cast<std::size_t>(c)].covered)
                line += QString::fromUcs4(&cells[static_cast<std::size_t>(c)].character, 1);
        while (i < to.line && line.endsWith(QLatin1Char(' ')))
            line.chop(1);
        out += line;
        if (i < to.line)
            out += QLatin1Char('\n');
    }
    return out;
}

void TerminalView::copy() const
{
    if (const auto text = selectedText(); !text.isEmpty())
        QApplication::clipboard()->setText(text);
}

void TerminalView::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    auto* copyAction = menu.addAction(ControlsText::tr("Copy\tCtrl+Shift+C"), this, &TerminalView::copy);
    copyAction->setEnabled(!selectedText().isEmpty());
    menu.addAction(ControlsText::tr("Paste\tCtrl+Shift+V"), this, &TerminalView::paste);
    menu.exec(event->globalPos());
}

void TerminalView::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void TerminalView::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void TerminalView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    measure();
}

void TerminalView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    const auto& t = tokens();
    painter.fillRect(viewport()->rect(), t.sunken);
    const auto first = m_screen.onAlternate() ? m_screen.pastCount() : verticalScrollBar()->value();
    for (int i = 0; i < m_screen.rows() && first + i < m_screen.lineCount(); ++i)
        paintLine(painter, first + i, terminalMargin + i * m_cellHeight);
    const auto row = m_screen.pastCount() + m_screen.cursorRow() - first;
    if (m_screen.cursorShown() && row >= 0 && row < m_screen.rows()) {
        const QRectF box(terminalMargin + m_screen.cursorColumn() * m_cellWidth,
            terminalMargin + row * m_cellHeight, m_cellWidth, m_cellHeight);
        painter.setPen(t.accent);
        painter.setBrush(hasFocus() ? QBrush(mixed(t.sunken, t.accent, 0.6)) : QBrush(Qt::NoBrush));
        painter.drawRect(box.adjusted(0, 0, -1, -1));
        if (hasFocus()) {
            painter.setPen(t.text);
            const auto c =
                m_screen.line(first + row)[static_cast<std::size_t>(m_screen.cursorColumn())].character;
            painter.setFont(Theme::instance().monospace());
            painter.drawText(box, Qt::AlignCenter, QString::fromUcs4(&c, 1));
        }
    }
    if (hasFocus()) {
        painter.setPen(QPen(t.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

void TerminalView::paintLine(QPainter& painter, int number, int top) const
{
    const auto& t = tokens();
    const auto& cells = m_screen.line(number);
    const auto from = std::min(m_anchor, m_end);
    const auto to = std::max(m_anchor, m_end);
    const auto selected = [&](int column) {
        const Place place{number, column};
        return place >= from && place < to;
    };
    for (int begin = 0; begin < static_cast<int>(cells.size());) {
        const auto& first = cells[static_cast<std::size_t>(begin)];
        int end = begin + 1;
        const auto same = [&](int at) {
            const auto& cell = cells[static_cast<std::size_t>(at)];
            return cell.style == first.style && cell.inverse == first.inverse
                && selected(at) == selected(begin);
        };
        while (end < static_cast<int>(cells.size()) && same(end))
            ++end;
        auto [front, back] = ansiColors(first.style, t);
        if (!back.isValid())
            back = t.sunken;
        if (first.inverse)
            std::swap(front, back);
        if (selected(begin))
            back = mixed(t.sunken, t.accent, 0.35);
        if (first.style.faint)
            front = mixed(front, back, 0.4);
        const QRectF box(
            terminalMargin + begin * m_cellWidth, top, (end - begin) * m_cellWidth, m_cellHeight);
        if (back != t.sunken)
            painter.fillRect(box, back);
        auto font = Theme::instance().monospace();
        font.setBold(first.style.bold);
        font.setItalic(first.style.italic);
        font.setUnderline(first.style.underline);
        painter.setFont(font);
        painter.setPen(front);
        // Cell by cell where a character may be wider or narrower than the font's own.
        QString run;
        bool plain = true;
        for (int i = begin; i < end; ++i) {
            const auto c = cells[static_cast<std::size_t>(i)].character;
            plain &= c < 0x80;
            run += QString::fromUcs4(&c, 1);
        }
        const auto baseline = top + painter.fontMetrics().ascent();
        if (plain) {
            if (!run.trimmed().isEmpty())
                painter.drawText(QPointF(box.left(), baseline), run);
        } else {
            for (int i = begin; i < end; ++i) {
                const auto& cell = cells[static_cast<std::size_t>(i)];
                if (!cell.covered && cell.character != U' ')
                    painter.drawText(QPointF(terminalMargin + i * m_cellWidth, baseline),
                        QString::fromUcs4(&cell.character, 1));
            }
        }
        begin = end;
    }
}

} // namespace gb::ui
