// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "textview.h"

#include <QCheckBox>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QStackedWidget>
#include <QTextEdit>
#include <QVBoxLayout>

#include <widgets/controls/ansi.h>
#include <widgets/controls/harmless.h>
#include <widgets/controls/laidout.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr qsizetype markdownShown = 200'000; // laying out is slow beyond
constexpr int readingWidth = 100; // characters

// Shows no image, from wherever it would come.
class QuietText final : public QTextEdit
{
public:
    QVariant loadResource(int, const QUrl&) override { return {}; }
};

// Nothing is fetched to be shown: an image stays what it is called.
QString withoutImages(QString markdown)
{
    static const QRegularExpression image(QStringLiteral("!\\[([^\\]]*)\\]\\([^)]*\\)"));
    return markdown.replace(image, ViewersText::tr("[image: \\1]"));
}

bool hasColors(const QString& text)
{
    return text.contains(QStringLiteral("\x1b["));
}

} // namespace

TextView::TextView(QWidget* parent) : QWidget(parent)
{
    m_plain = new QPlainTextEdit;
    m_plain->setReadOnly(true);
    m_plain->setFrameShape(QFrame::NoFrame);
    m_plain->setAccessibleName(ViewersText::tr("Result as text"));
    m_laidOut = new QuietText;
    m_laidOut->setReadOnly(true);
    m_laidOut->setFrameShape(QFrame::NoFrame);
    m_laidOut->setAccessibleName(ViewersText::tr("Result as text"));
    m_plain->document()->setDocumentMargin(space::s);
    m_laidOut->document()->setDocumentMargin(space::m);
    m_laidOut->document()->setIndentWidth(space::xl);
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_plain);
    m_stack->addWidget(m_laidOut);
    m_source = new QCheckBox(ViewersText::tr("Show the source"));
    connect(m_source, &QCheckBox::toggled, this, &TextView::showText);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::xs);
    layout->addWidget(m_source, 0, Qt::AlignRight);
    layout->addWidget(m_stack, 1);
    connect(&Theme::instance(), &Theme::changed, this, &TextView::showText);
}

void TextView::setText(const QString& text, TextKind kind)
{
    m_text = harmless(text);
    m_kind = kind;
    m_source->setVisible(kind == TextKind::Markdown && text.size() <= markdownShown);
    showText();
}

void TextView::showText()
{
    const bool laidOut = !m_source->isHidden() && !m_source->isChecked();
    m_stack->setCurrentIndex(laidOut ? 1 : 0);
    const auto& theme = Theme::instance();
    if (laidOut) {
        auto font = theme.font(TextSize::Body);
        m_laidOut->setFont(font);
        m_laidOut->setLineWrapMode(QTextEdit::WidgetWidth);
        m_laidOut->document()->setMarkdown(withoutImages(m_text),
            QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub)
                | QTextDocument::MarkdownNoHTML);
        layOutQuietly(m_laidOut->document());
        m_laidOut->setMaximumWidth(QFontMetrics(font).averageCharWidth() * readingWidth);
        return;
    }
    const bool isProse = m_kind == TextKind::Plain && !hasColors(m_text);
    m_plain->setFont(isProse ? theme.font(TextSize::Body) : theme.monospace());
    if (hasColors(m_text))
        showColors();
    else
        m_plain->setPlainText(m_text);
}

void TextView::showColors()
{
    m_plain->clear();
    const auto bytes = m_text.toStdString();
    AnsiParser parser;
    auto cursor = m_plain->textCursor();
    for (const auto& piece : parser.feed(bytes)) {
        QTextCharFormat format;
        const auto [front, back] = ansiColors(piece.style, tokens());
        format.setForeground(front);
        if (back.isValid())
            format.setBackground(back);
        format.setFontWeight(piece.style.bold ? QFont::Bold : QFont::Normal);
        format.setFontItalic(piece.style.italic);
        format.setFontUnderline(piece.style.underline);
        cursor.insertText(
            QString::fromUtf8(piece.text.data(), static_cast<qsizetype>(piece.text.size())), format);
    }
    m_plain->moveCursor(QTextCursor::Start);
}

} // namespace gb::ui
