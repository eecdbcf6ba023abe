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

// Tokens as a strip that wraps: the colour is the score, white space is visible, the value is read out on
// hover.
class TokenView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit TokenView(QWidget* parent = nullptr);
    void setTokens(std::vector<Token> list);
    static QString visibleText(const QString& token);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void layOut();

    std::vector<Token> m_tokens;
    std::vector<QRect> m_boxes;
    ColorScale m_scale;
    int m_current = -1;
};

} // namespace gb::ui
