// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "pythonhighlighter.h"

#include <QSet>

#include "theme.h"

namespace gb::ui {
namespace {

const QSet<QString>& keywordSet()
{
    static const QSet<QString> words = [] {
        const auto list = PythonHighlighter::keywords();
        return QSet<QString>(list.begin(), list.end());
    }();
    return words;
}

bool isWordPart(QChar c)
{
    return c.isLetterOrNumber() || c == QLatin1Char('_');
}

QTextCharFormat inColor(const QColor& color, bool bold = false)
{
    QTextCharFormat format;
    format.setForeground(color);
    if (bold)
        format.setFontWeight(QFont::DemiBold);
    return format;
}

} // namespace

QStringList PythonHighlighter::keywords()
{
    static const QStringList words =
        QStringLiteral("False None True and as assert async await break class continue "
                       "def del elif else except finally for from global if import in "
                       "is lambda nonlocal not or pass raise return try while with yield")
            .split(QLatin1Char(' '));
    return words;
}

int PythonHighlighter::stringEnd(const QString& text, int from, QChar quote, bool triple, bool raw) const
{
    for (int i = from; i < text.size(); ++i) {
        if (text[i] == QLatin1Char('\\') && !raw) {
            ++i;
            continue;
        }
        if (text[i] != quote)
            continue;
        if (!triple)
            return i + 1;
        if (text.mid(i, 3) == QString(3, quote))
            return i + 3;
    }
    return -1;
}

int PythonHighlighter::paintString(const QString& text, int at, int prefix)
{
    const QChar quote = text[at + prefix];
    const bool triple = text.mid(at + prefix, 3) == QString(3, quote);
    const bool raw = text.mid(at, prefix).contains(QLatin1Char('r'), Qt::CaseInsensitive);
    int end = stringEnd(text, at + prefix + (triple ? 3 : 1), quote, triple, raw);
    if (end < 0) {
        end = static_cast<int>(text.size());
        if (triple)
            setCurrentBlockState(quote == QLatin1Char('"') ? Double : Single);
    }
    setFormat(at, end - at, inColor(tokens().success));
    return end;
}

int PythonHighlighter::paintWord(const QString& text, int at)
{
    int end = at;
    const bool number = text[at].isDigit();
    while (end < text.size() && (isWordPart(text[end]) || (number && text[end] == QLatin1Char('.'))))
        ++end;
    const auto word = text.mid(at, end - at);
    const bool isPrefix = word.size() <= 2 && end < text.size()
        && (text[end] == QLatin1Char('"') || text[end] == QLatin1Char('\''))
        && QStringLiteral("rbfuRBFU").contains(word[0]);
    if (isPrefix)
        return paintString(text, at, static_cast<int>(word.size()));
    if (keywordSet().contains(word))
        setFormat(at, end - at, inColor(tokens().accent, true));
    else if (number)
        setFormat(at, end - at, inColor(tokens().info));
    else if (text.left(at).trimmed() == QLatin1String("def")
        || text.left(at).trimmed() == QLatin1String("class"))
        setFormat(at, end - at, inColor(tokens().text, true));
    return end;
}

void PythonHighlighter::highlightBlock(const QString& text)
{
    setCurrentBlockState(None);
    int at = 0;
    if (const int open = previousBlockState(); open != None) {
        const QChar quote = QLatin1Char(open == Double ? '"' : '\'');
        const int end = stringEnd(text, 0, quote, true, false);
        at = end < 0 ? static_cast<int>(text.size()) : end;
        setFormat(0, at, inColor(tokens().success));
        if (end < 0)
            return setCurrentBlockState(open);
    }
    while (at < text.size()) {
        const QChar c = text[at];
        if (c == QLatin1Char('#')) {
            setFormat(at, static_cast<int>(text.size()) - at, inColor(tokens().secondary));
            return;
        }
        if (c == QLatin1Char('"') || c == QLatin1Char('\'')) {
            at = paintString(text, at, 0);
        } else if (c == QLatin1Char('@') && text.left(at).trimmed().isEmpty()) {
            int end = at + 1;
            while (end < text.size() && (isWordPart(text[end]) || text[end] == QLatin1Char('.')))
                ++end;
            setFormat(at, end - at, inColor(tokens().warning));
            at = end;
        } else {
            at = isWordPart(c) ? paintWord(text, at) : at + 1;
        }
    }
}

} // namespace gb::ui
