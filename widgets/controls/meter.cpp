// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "meter.h"

#include <algorithm>

#include <QPainter>
#include <QPainterPath>

#include "theme.h"

namespace gb::ui {
namespace {

constexpr int meterHistory = 120;

} // namespace

Meter::Meter(const QString& name, QWidget* parent) : QWidget(parent), m_name(name)
{
    setAccessibleName(name);
}

void Meter::setReading(double value, double limit, const QString& text)
{
    m_history.append(value);
    if (m_history.size() > meterHistory)
        m_history.removeFirst();
    m_limit = limit;
    m_text = text;
    m_why.clear();
    setAccessibleName(m_name + QLatin1Char(' ') + text);
    update();
}

void Meter::setUnavailable(const QString& why)
{
    m_history.clear();
    m_text = QStringLiteral("—");
    m_why = why;
    setToolTip(why);
    update();
}

Tone Meter::tone() const
{
    if (m_limit <= 0 || m_history.isEmpty())
        return Tone::Accent;
    const auto share = m_history.last() / m_limit;
    return share > 0.95 ? Tone::Error : share > 0.85 ? Tone::Warning : Tone::Accent;
}

void Meter::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto& theme = Theme::instance();
    const auto top = QFontMetrics(theme.font(TextSize::Small)).height() + 2;
    painter.setFont(theme.font(TextSize::Small));
    painter.setPen(tokens().secondary);
    painter.drawText(QRect(0, 0, width(), top), Qt::AlignLeft | Qt::AlignVCenter, m_name);
    painter.setPen(m_why.isEmpty() ? tokens().text : tokens().disabled);
    painter.drawText(QRect(0, 0, width(), top), Qt::AlignRight | Qt::AlignVCenter, m_text);

    const QRectF box(0.5, top + 2.5, width() - 1, height() - top - 3);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens().sunken);
    painter.drawRoundedRect(box, 4, 4);
    if (m_history.size() < 2)
        return;
    const auto ceiling = m_limit > 0 ? m_limit : *std::max_element(m_history.begin(), m_history.end()) * 1.2;
    const auto point = [&](int i) {
        const auto x = box.right() - box.width() * (m_history.size() - 1 - i) / (meterHistory - 1);
        const auto share = ceiling > 0 ? qBound(0.0, m_history[i] / ceiling, 1.0) : 0;
        return QPointF(x, box.bottom() - 1 - share * (box.height() - 3));
    };
    QPainterPath line(point(0));
    for (int i = 1; i < m_history.size(); ++i)
        line.lineTo(point(i));
    auto area = line;
    area.lineTo(box.right(), box.bottom());
    area.lineTo(point(0).x(), box.bottom());
    const auto color = toneColor(tokens(), tone());
    painter.setBrush(mixed(tokens().sunken, color, 0.18));
    painter.drawPath(area);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, 1.5));
    painter.drawPath(line);
}

} // namespace gb::ui
