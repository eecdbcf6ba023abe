// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QPlainTextEdit>

#include "tokens.h"

class QCompleter;
class QStringListModel;

namespace gb::ui {

class PythonHighlighter;

// An editor for one Python file: line numbers, colours, findings beside their lines, completion of names.
class CodeEditor final : public QPlainTextEdit
{
    Q_OBJECT

public:
    // Something said about a line (from 1).
    struct Finding
    {
        int line = 0;
        Tone tone = Tone::Warning;
        QString text;
        bool operator==(const Finding&) const = default;
    };

    explicit CodeEditor(QWidget* parent = nullptr);

    void setFindings(QList<Finding> findings);
    const QList<Finding>& findings() const { return m_findings; }
    // Offered besides the words that stand in the text.
    void setNames(const QStringList& names) { m_names = names; }
    void goToLine(int line);
    int currentLine() const;

    // The strip at the left.
    int stripWidth() const;
    void paintStrip(QPaintEvent* event);
    QString findingsAt(int line) const;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    class Strip;

    void updateStrip(const QRect& rect, int scrolled);
    void markLines();
    void indent(bool back);
    void newLine();
    void toggleComment();
    void changeLines(const std::function<void(QTextCursor& atLineStart, const QString& line)>& change);
    QString wordBeforeCursor() const;
    void offerCompletion(bool asked);
    void complete(const QString& word);

    Strip* m_strip;
    PythonHighlighter* m_highlighter;
    QCompleter* m_completer;
    QStringListModel* m_words;
    QStringList m_names;
    QList<Finding> m_findings;
};

} // namespace gb::ui
