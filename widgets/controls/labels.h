// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QLabel>

namespace gb::ui {

enum class TextRole { Body, Title, Heading, Section, Strong, Secondary, Caption, Mono, Error };

// Plain text always: what comes from a program must not turn into markup.
QLabel* makeLabel(const QString& text, TextRole role = TextRole::Body, QWidget* parent = nullptr);
void setTextRole(QLabel* label, TextRole role);

// One line that shortens with "…" instead of widening its parent; the whole text is the tool tip.
class ElidedLabel final : public QLabel
{
    Q_OBJECT

public:
    explicit ElidedLabel(const QString& text = {}, TextRole role = TextRole::Body, QWidget* parent = nullptr);
    void setElidedText(const QString& text);
    void setElideMode(Qt::TextElideMode mode) { m_mode = mode; }
    QString fullText() const { return m_full; }
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void elide();

    QString m_full;
    Qt::TextElideMode m_mode = Qt::ElideRight;
};

} // namespace gb::ui
