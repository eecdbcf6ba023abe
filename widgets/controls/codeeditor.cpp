// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "codeeditor.h"

#include <algorithm>

#include <QAbstractItemView>
#include <QCompleter>
#include <QHelpEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QScrollBar>
#include <QStringListModel>
#include <QTextBlock>
#include <QToolTip>

#include "pythonhighlighter.h"
#include "text.h"
#include "theme.h"

namespace gb::ui {
namespace {

constexpr int tabSpaces = 4;
constexpr int wordsFrom = 2; // letters before a completion is offered by itself
constexpr int longestForWords = 200'000;

} // namespace

// Numbers and findings; it paints what the editor tells it.
class CodeEditor::Strip final : public QWidget
{
public:
    explicit Strip(CodeEditor* editor) : QWidget(editor), m_editor(editor) { }
    QSize sizeHint() const override { return {m_editor->stripWidth(), 0}; }

protected:
    void paintEvent(QPaintEvent* event) override { m_editor->paintStrip(event); }
    bool event(QEvent* event) override
    {
        if (event->type() != QEvent::ToolTip)
            return QWidget::event(event);
        const auto* help = static_cast<QHelpEvent*>(event);
        const int line = m_editor->cursorForPosition({0, help->pos().y()}).blockNumber() + 1;
        QToolTip::showText(help->globalPos(), m_editor->findingsAt(line).toHtmlEscaped(), this);
        return true;
    }

private:
    CodeEditor* m_editor;
};

CodeEditor::CodeEditor(QWidget* parent)
    : QPlainTextEdit(parent), m_strip(new Strip(this)), m_highlighter(new PythonHighlighter(document())),
      m_completer(new QCompleter(this)), m_words(new QStringListModel(this))
{
    setAccessibleName(ControlsText::tr("Python source"));
    setFont(Theme::instance().monospace());
    setLineWrapMode(NoWrap);
    setFrameShape(NoFrame);
    setTabStopDistance(QFontMetricsF(font()).horizontalAdvance(QLatin1Char(' ')) * tabSpaces);
    m_completer->setModel(m_words);
    m_completer->setWidget(this);
    m_completer->setCompletionMode(QCompleter::PopupCompletion);
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &CodeEditor::complete);
    connect(this, &QPlainTextEdit::blockCountChanged, this,
        [this] { setViewportMargins(stripWidth(), 0, 0, 0); });
    connect(this, &QPlainTextEdit::updateRequest, this, &CodeEditor::updateStrip);
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, &CodeEditor::markLines);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        setFont(Theme::instance().monospace());
        m_highlighter->rehighlight();
        markLines();
    });
    setViewportMargins(stripWidth(), 0, 0, 0);
    markLines();
}

void CodeEditor::setFindings(QList<Finding> findings)
{
    if (findings == m_findings)
        return;
    m_findings = std::move(findings);
    markLines();
    m_strip->update();
}

QString CodeEditor::findingsAt(int line) const
{
    QStringList texts;
    for (const auto& finding : m_findings)
        if (finding.line == line)
            texts += finding.text;
    return texts.join(QLatin1Char('\n'));
}

void CodeEditor::goToLine(int line)
{
    const auto block = document()->findBlockByNumber(std::clamp(line, 1, blockCount()) - 1);
    QTextCursor cursor(block);
    cursor.movePosition(QTextCursor::EndOfBlock);
    cursor.movePosition(QTextCursor::StartOfBlock);
    setTextCursor(cursor);
    centerCursor();
}

int CodeEditor::currentLine() const
{
    return textCursor().blockNumber() + 1;
}

int CodeEditor::stripWidth() const
{
    const auto digits = std::max<qsizetype>(3, QString::number(blockCount()).size());
    return fontMetrics().horizontalAdvance(QLatin1Char('9')) * static_cast<int>(digits) + 2 * space::s
        + space::xs;
}

void CodeEditor::paintStrip(QPaintEvent* event)
{
    const auto& t = tokens();
    QPainter painter(m_strip);
    painter.fillRect(event->rect(), t.sunken);
    painter.setFont(font());
    auto block = firstVisibleBlock();
    auto top = blockBoundingGeometry(block).translated(contentOffset()).top();
    const int current = textCursor().blockNumber();
    while (block.isValid() && top <= event->rect().bottom()) {
        const auto height = blockBoundingRect(block).height();
        const int line = block.blockNumber() + 1;
        painter.setPen(line - 1 == current ? t.text : t.secondary);
        painter.drawText(QRectF(0, top, m_strip->width() - space::s, height),
            Qt::AlignRight | Qt::AlignVCenter, QString::number(line));
        for (const auto& finding : m_findings)
            if (finding.line == line)
                painter.fillRect(QRectF(0, top, 3, height), toneColor(t, finding.tone));
        top += height;
        block = block.next();
    }
}

void CodeEditor::markLines()
{
    const auto& t = tokens();
    QList<QTextEdit::ExtraSelection> marks;
    QTextEdit::ExtraSelection current;
    current.format.setBackground(mixed(t.surface, t.text, 0.04));
    current.format.setProperty(QTextFormat::FullWidthSelection, true);
    current.cursor = textCursor();
    current.cursor.clearSelection();
    marks += current;
    for (const auto& finding : m_findings) {
        const auto block = document()->findBlockByNumber(finding.line - 1);
        if (!block.isValid())
            continue;
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(block);
        const auto text = block.text();
        const auto indent = std::ranges::find_if(text, [](QChar c) { return !c.isSpace(); }) - text.begin();
        mark.cursor.movePosition(QTextCursor::Right, QTextCursor::MoveAnchor, static_cast<int>(indent));
        mark.cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        mark.format.setUnderlineColor(toneColor(t, finding.tone));
        marks += mark;
    }
    setExtraSelections(marks);
    m_strip->update();
}

void CodeEditor::updateStrip(const QRect& rect, int scrolled)
{
    if (scrolled != 0)
        m_strip->scroll(0, scrolled);
    else
        m_strip->update(0, rect.y(), m_strip->width(), rect.height());
}

void CodeEditor::resizeEvent(QResizeEvent* event)
{
    QPlainTextEdit::resizeEvent(event);
    const auto inside = contentsRect();
    m_strip->setGeometry(inside.left(), inside.top(), stripWidth(), inside.height());
}

void CodeEditor::changeEvent(QEvent* event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        setTabStopDistance(QFontMetricsF(font()).horizontalAdvance(QLatin1Char(' ')) * tabSpaces);
        setViewportMargins(stripWidth(), 0, 0, 0);
    }
}

bool CodeEditor::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto text = findingsAt(cursorForPosition(help->pos()).blockNumber() + 1);
        QToolTip::showText(help->globalPos(), text.toHtmlEscaped(), viewport());
        return true;
    }
    return QPlainTextEdit::viewportEvent(event);
}

void CodeEditor::changeLines(const std::function<void(QTextCursor&, const QString&)>& change)
{
    auto cursor = textCursor();
    const auto* text = document();
    const int first = text->findBlock(cursor.selectionStart()).blockNumber();
    int last = text->findBlock(cursor.selectionEnd()).blockNumber();
    // A selection that ends before the first letter of a line does not mean that line.
    if (last > first && text->findBlock(cursor.selectionEnd()).position() == cursor.selectionEnd())
        --last;
    cursor.beginEditBlock();
    for (int line = first; line <= last; ++line) {
        const auto block = text->findBlockByNumber(line);
        QTextCursor at(block);
        change(at, block.text());
    }
    cursor.endEditBlock();
}

void CodeEditor::indent(bool back)
{
    changeLines([back](QTextCursor& at, const QString& line) {
        if (!back) {
            at.insertText(QString(tabSpaces, QLatin1Char(' ')));
            return;
        }
        for (int i = 0; i < tabSpaces && i < line.size() && line[i] == QLatin1Char(' '); ++i)
            at.deleteChar();
    });
}

void CodeEditor::toggleComment()
{
    bool all = true;
    changeLines([&all](QTextCursor&, const QString& line) {
        all &= line.trimmed().isEmpty() || line.trimmed().startsWith(QLatin1Char('#'));
    });
    changeLines([all](QTextCursor& at, const QString& line) {
        if (line.trimmed().isEmpty())
            return;
        const auto start = std::ranges::find_if(line, [](QChar c) { return !c.isSpace(); }) - line.begin();
        at.movePosition(QTextCursor::Right, QTextCursor::MoveAnchor, static_cast<int>(start));
        if (!all) {
            at.insertText(QStringLiteral("# "));
            return;
        }
        at.deleteChar();
        if (start + 1 < line.size() && line[start + 1] == QLatin1Char(' '))
            at.deleteChar();
    });
}

// The next line begins where this one does, deeper after a colon.
void CodeEditor::newLine()
{
    auto cursor = textCursor();
    const auto before = cursor.block().text().left(cursor.positionInBlock());
    static const QRegularExpression leading(QStringLiteral("^ *"));
    auto start = leading.match(before).captured();
    if (before.trimmed().endsWith(QLatin1Char(':')))
        start += QString(tabSpaces, QLatin1Char(' '));
    cursor.insertText(QLatin1Char('\n') + start);
    setTextCursor(cursor);
    ensureCursorVisible();
}

void CodeEditor::keyPressEvent(QKeyEvent* event)
{
    const bool offers = m_completer->popup()->isVisible();
    if (offers
        && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Tab
            || event->key() == Qt::Key_Escape || event->key() == Qt::Key_Backtab))
        return event->ignore(); // the list's
    const bool control = event->modifiers().testFlag(Qt::ControlModifier);
    if (control && event->key() == Qt::Key_Slash)
        return toggleComment();
    if (control && event->key() == Qt::Key_Space)
        return offerCompletion(true);
    if (event->key() == Qt::Key_Backtab)
        return indent(true);
    if (event->key() == Qt::Key_Tab && !control) {
        if (textCursor().hasSelection())
            return indent(false);
        const int column = textCursor().positionInBlock();
        return insertPlainText(QString(tabSpaces - column % tabSpaces, QLatin1Char(' ')));
    }
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && !control)
        return newLine();
    QPlainTextEdit::keyPressEvent(event);
    if (!event->text().isEmpty() && !control)
        offerCompletion(false);
}

QString CodeEditor::wordBeforeCursor() const
{
    static const QRegularExpression word(QStringLiteral("[A-Za-z_][A-Za-z0-9_]*$"));
    const auto cursor = textCursor();
    return word.match(cursor.block().text().left(cursor.positionInBlock())).captured();
}

void CodeEditor::offerCompletion(bool asked)
{
    const auto typed = wordBeforeCursor();
    if (!asked && typed.size() < wordsFrom)
        return m_completer->popup()->hide();
    QStringList words = m_names + PythonHighlighter::keywords();
    if (document()->characterCount() < longestForWords) {
        static const QRegularExpression word(QStringLiteral("[A-Za-z_][A-Za-z0-9_]{2,}"));
        for (auto found = word.globalMatch(toPlainText()); found.hasNext();)
            words += found.next().captured();
    }
    words.removeDuplicates();
    words.removeAll(typed);
    words.sort(Qt::CaseInsensitive);
    m_words->setStringList(words);
    m_completer->setCompletionPrefix(typed);
    if (m_completer->completionCount() == 0)
        return m_completer->popup()->hide();
    auto place = cursorRect();
    place.translate(stripWidth(), 0);
    place.setWidth(m_completer->popup()->sizeHintForColumn(0) + 2 * space::xl);
    m_completer->complete(place);
    m_completer->popup()->setCurrentIndex(m_completer->completionModel()->index(0, 0));
}

void CodeEditor::complete(const QString& word)
{
    auto cursor = textCursor();
    cursor.movePosition(
        QTextCursor::Left, QTextCursor::KeepAnchor, static_cast<int>(m_completer->completionPrefix().size()));
    cursor.insertText(word);
    setTextCursor(cursor);
}

} // namespace gb::ui
