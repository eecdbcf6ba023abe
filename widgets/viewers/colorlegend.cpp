// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "colorlegend.h"

#include <array>

#include <QPainter>

#include <widgets/controls/theme.h>

namespace gb::ui {
namespace {

QString endText(double value, bool isBeyond, const QString& sign)
{
    const auto text = QString::number(value, 'g', 4);
    return isBeyond ? sign + QLatin1Char(' ') + text : text;
}

} // namespace

int lyingLegendHeight(int barHeight)
{
    return barHeight + 2 + QFontMetrics(Theme::instance().font(TextSize::Caption)).height();
}

void paintColorLegend(
    QPainter& painter, const QRect& bar, Qt::Orientation way, const ColorScale& scale, BeyondScale beyond)
{
    const bool upright = way == Qt::Vertical;
    const int length = upright ? bar.height() : bar.width();
    if (length < 2)
        return;
    for (int i = 0; i < length; ++i) {
        const auto share = static_cast<double>(i) / (length - 1);
        const QColor color(scale.color(scale.low + share * (scale.high - scale.low)));
        if (upright)
            painter.fillRect(bar.left(), bar.bottom() - i, bar.width(), 1, color);
        else
            painter.fillRect(bar.left() + i, bar.top(), 1, bar.height(), color);
    }
    painter.setFont(Theme::instance().font(TextSize::Caption));
    painter.setPen(tokens().secondary);
    const auto tall = painter.fontMetrics().height();
    const std::array<std::pair<double, QString>, 3> marks = {
        std::pair(0.0, endText(scale.low, beyond.below, QStringLiteral("≤"))),
        std::pair(0.5, QString::number((scale.low + scale.high) / 2, 'g', 4)),
        std::pair(1.0, endText(scale.high, beyond.above, QStringLiteral("≥")))};
    for (const auto& [share, text] : marks) {
        if (upright) {
            const auto y = bar.bottom() - static_cast<int>(share * (bar.height() - tall)) - tall;
            painter.drawText(QRect(bar.right() + 5, y, 200, tall), Qt::AlignLeft | Qt::AlignVCenter, text);
            continue;
        }
        const QRect box(bar.left(), bar.bottom() + 2, bar.width(), tall);
        painter.drawText(box,
            share < 0.25       ? Qt::AlignLeft
                : share > 0.75 ? Qt::AlignRight
                               : Qt::AlignHCenter,
            text);
    }
}

} // namespace gb::ui
