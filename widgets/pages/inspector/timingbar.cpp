// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "timingbar.h"

#include <array>
#include <numeric>

#include <QPainter>

#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {

TimingBar::TimingBar(QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TimingBar::setTiming(const Json& ns)
{
    m_parts = {integerOr(ns, "queue"), integerOr(ns, "compute"), integerOr(ns, "serialise"),
        integerOr(ns, "transfer")};
    const auto text = InspectorText::tr("waited %1, computed %2, serialised %3, transferred %4")
                          .arg(durationText(m_parts[0]), durationText(m_parts[1]), durationText(m_parts[2]),
                              durationText(m_parts[3]));
    setToolTip(text);
    setAccessibleName(text);
    update();
}

void TimingBar::clear()
{
    m_parts = {};
    update();
}

void TimingBar::paintEvent(QPaintEvent*)
{
    const auto total = std::accumulate(m_parts.begin(), m_parts.end(), std::int64_t{0});
    if (total <= 0)
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto text = durationText(total);
    painter.setFont(Theme::instance().font(TextSize::Small));
    const auto wide = painter.fontMetrics().horizontalAdvance(text) + space::s;
    painter.setPen(tokens().text);
    painter.drawText(rect(), Qt::AlignRight | Qt::AlignVCenter, text);
    const QRectF bar(0, height() / 2.0 - 4, width() - wide, 8);
    const std::array<QColor, 4> colors = {
        tokens().disabled, tokens().accent, tokens().info, tokens().secondary};
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens().sunken);
    painter.drawRoundedRect(bar, 4, 4);
    auto x = bar.left();
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        const auto share = bar.width() * static_cast<double>(m_parts.at(i)) / static_cast<double>(total);
        if (share < 0.5)
            continue;
        painter.setBrush(colors.at(i));
        painter.drawRoundedRect(QRectF(x, bar.top(), std::max(share - 1, 1.0), bar.height()), 3, 3);
        x += share;
    }
}

} // namespace gb::ui
