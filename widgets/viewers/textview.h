// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

class QCheckBox;
class QPlainTextEdit;
class QStackedWidget;
class QTextEdit;

namespace gb::ui {

enum class TextKind { Plain, Markdown, Html };

// A text of a program: as it is, Markdown laid out, terminal colours where it has them, HTML as its source.
// Nothing is loaded from anywhere.
class TextView final : public QWidget
{
    Q_OBJECT

public:
    explicit TextView(QWidget* parent = nullptr);
    void setText(const QString& text, TextKind kind);

private:
    void showText();
    void showColors();

    QString m_text;
    TextKind m_kind = TextKind::Plain;
    QStackedWidget* m_stack = nullptr;
    QPlainTextEdit* m_plain = nullptr;
    QTextEdit* m_laidOut = nullptr;
    QCheckBox* m_source = nullptr;
};

} // namespace gb::ui
