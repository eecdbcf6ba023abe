// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QSyntaxHighlighter>

namespace gb::ui {

// What the parts of a Python text are, for colours. Tokens only: nothing is parsed.
class PythonHighlighter final : public QSyntaxHighlighter
{
public:
    explicit PythonHighlighter(QTextDocument* document) : QSyntaxHighlighter(document) { }

    static QStringList keywords();

protected:
    void highlightBlock(const QString& text) override;

private:
    enum Open { None = -1, Single = 0, Double = 1 }; // a string of three quotes that goes on
    int stringEnd(const QString& text, int from, QChar quote, bool triple, bool raw) const;
    int paintString(const QString& text, int at, int prefix);
    int paintWord(const QString& text, int at);
};

} // namespace gb::ui
