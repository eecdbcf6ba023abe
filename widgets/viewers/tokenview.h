// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include <QAbstractScrollArea>

#include "colormap.h"

namespace gb::ui {

struct Token
{
    QString text;
    double score = 0;
    bool scored = false;
};

// Tokens as a strip that wraps: the colour is the score, as the legend below says; white space is visible;
// the token under the mouse or the keyboard's cursor is read out.
class TokenView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit TokenView(QWidget* parent = nullptr);
    // What the scores are may be given by name: "log probability".
    void setTokens(std::vector<Token> list, const QString& scoreName = {});
    const ColorScale& scale() const { return m_scale; }
    QString readOut(int token) const;
    QString legend() const; // in words
    static QString visibleText(const QString& token);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void layOut();
    void paintFoot(QPainter& painter);
    int footHeight() const;
    int tokenAt(QPoint point) const;
    void moveTo(int token);
    int tokenInLine(int lines) const; // above or below the current one

    std::vector<Token> m_tokens;
    std::vector<QRect> m_boxes;
    ColorScale m_scale;
    QString m_scoreName;
    int m_scored = 0;
    int m_current = -1;
    int m_hover = -1;
};

} // namespace gb::ui
