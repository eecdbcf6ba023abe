// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "vectorview.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QTabWidget>
#include <QVBoxLayout>

#include <widgets/controls/labels.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int vectorAxis = 56;
constexpr int histogramBins = 60;

QString shortValue(double value)
{
    return QString::number(value, 'g', 4);
}

} // namespace

VectorCanvas::VectorCanvas(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setAccessibleName(ViewersText::tr("Vector as a picture"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void VectorCanvas::setValues(const std::vector<double>* values, Form form)
{
    m_values = values;
    m_form = form;
    m_low = HUGE_VAL;
    m_high = -HUGE_VAL;
    for (const auto value : *values)
        if (std::isfinite(value)) {
            m_low = std::min(m_low, value);
            m_high = std::max(m_high, value);
        }
    if (!(m_low < m_high)) {
        m_low = std::isfinite(m_low) ? m_low - 1 : 0;
        m_high = m_low + 2;
    }
    update();
}

void VectorCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), tokens().sunken);
    if (!m_values || m_values->empty())
        return;
    const QRectF box(
        vectorAxis, space::m, width() - vectorAxis - space::m, height() - 2 * space::m - space::s);
    painter.setFont(Theme::instance().font(TextSize::Caption));
    if (m_form == Form::Line)
        paintLine(painter, box);
    else
        paintHistogram(painter, box);
}

void VectorCanvas::paintLine(QPainter& painter, const QRectF& box)
{
    const auto& v = *m_values;
    const auto y = [&](double value) {
        return box.bottom() - (std::clamp(value, m_low, m_high) - m_low) / (m_high - m_low) * box.height();
    };
    painter.setPen(tokens().secondary);
    painter.drawText(QRectF(0, box.top() - 8, vectorAxis - space::s, 16), Qt::AlignRight, shortValue(m_high));
    painter.drawText(
        QRectF(0, box.bottom() - 8, vectorAxis - space::s, 16), Qt::AlignRight, shortValue(m_low));
    if (m_low < 0 && m_high > 0) {
        painter.setPen(tokens().border);
        painter.drawLine(QPointF(box.left(), y(0)), QPointF(box.right(), y(0)));
    }
    painter.setPen(QPen(tokens().accent, 1.5));
    const auto columns = static_cast<std::size_t>(box.width());
    if (v.size() <= columns * 2) {
        QPainterPath path;
        for (std::size_t i = 0; i < v.size(); ++i) {
            const QPointF point(box.left()
                    + box.width() * static_cast<double>(i)
                        / std::max<double>(1, static_cast<double>(v.size() - 1)),
                y(v[i]));
            if (i == 0 || !std::isfinite(v[i]) || !std::isfinite(v[i - 1]))
                path.moveTo(point);
            else
                path.lineTo(point);
            if (v.size() <= 64)
                path.addEllipse(point, 2, 2), path.moveTo(point);
        }
        painter.drawPath(path);
    } else {
        for (std::size_t x = 0; x < columns; ++x) {
            const auto from = v.begin() + static_cast<std::ptrdiff_t>(v.size() * x / columns);
            const auto to = v.begin() + static_cast<std::ptrdiff_t>(v.size() * (x + 1) / columns);
            const auto [least, greatest] = std::minmax_element(from, to);
            const auto at = box.left() + static_cast<double>(x);
            painter.drawLine(QPointF(at, y(*least)), QPointF(at, y(*greatest) - 1));
        }
    }
    if (m_hover >= 0 && m_hover < static_cast<int>(v.size())) {
        const auto x =
            box.left() + box.width() * m_hover / std::max<double>(1, static_cast<double>(v.size() - 1));
        painter.setPen(tokens().secondary);
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
        painter.setPen(tokens().text);
        painter.drawText(box, Qt::AlignTop | Qt::AlignRight,
            QStringLiteral("[%1] %2").arg(m_hover).arg(v[static_cast<std::size_t>(m_hover)], 0, 'g', 6));
    }
}

void VectorCanvas::paintHistogram(QPainter& painter, const QRectF& box)
{
    std::vector<std::size_t> bins(histogramBins);
    for (const auto value : *m_values)
        if (std::isfinite(value)) {
            const auto at = (value - m_low) / (m_high - m_low) * histogramBins;
            ++bins[std::min<std::size_t>(static_cast<std::size_t>(at), histogramBins - 1)];
        }
    const auto highest = static_cast<double>(*std::max_element(bins.begin(), bins.end()));
    painter.setPen(tokens().secondary);
    painter.drawText(QRectF(0, box.top() - 8, vectorAxis - space::s, 16), Qt::AlignRight,
        countText(static_cast<std::int64_t>(highest)));
    painter.drawText(QRectF(box.left(), box.bottom(), 120, 16), Qt::AlignLeft, shortValue(m_low));
    painter.drawText(QRectF(box.right() - 120, box.bottom(), 120, 16), Qt::AlignRight, shortValue(m_high));
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens().accent);
    const auto step = box.width() / histogramBins;
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const auto tall = box.height() * static_cast<double>(bins[i]) / highest;
        painter.drawRect(
            QRectF(box.left() + step * static_cast<double>(i), box.bottom() - tall, step - 1, tall));
    }
}

void VectorCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_values || m_form != Form::Line)
        return;
    const auto share = (event->position().x() - vectorAxis) / std::max(1, width() - vectorAxis - space::m);
    m_hover = qRound(std::clamp(share, 0.0, 1.0) * static_cast<double>(m_values->size() - 1));
    update();
}

void VectorCanvas::leaveEvent(QEvent*)
{
    m_hover = -1;
    update();
}

VectorView::VectorView(QWidget* parent) : QWidget(parent)
{
    m_statistics = makeLabel({}, TextRole::Mono);
    m_statistics->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_statistics->setWordWrap(true);
    m_top = makeLabel({}, TextRole::Mono);
    m_top->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_top->setAlignment(Qt::AlignTop);
    m_top->setMargin(space::m);
    m_line = new VectorCanvas;
    m_histogram = new VectorCanvas;
    auto* tabs = new QTabWidget;
    tabs->addTab(m_line, ViewersText::tr("Line"));
    tabs->addTab(m_histogram, ViewersText::tr("Histogram"));
    tabs->addTab(m_top, ViewersText::tr("Largest"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space::s);
    layout->addWidget(m_statistics);
    layout->addWidget(tabs, 1);
}

QString VectorView::statistics(const std::vector<double>& values)
{
    double sum = 0;
    double squares = 0;
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    std::size_t odd = 0;
    for (const auto value : values) {
        if (!std::isfinite(value)) {
            ++odd;
            continue;
        }
        sum += value;
        squares += value * value;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    const auto n = static_cast<double>(values.size() - odd);
    const auto mean = n > 0 ? sum / n : 0;
    auto text = ViewersText::tr("n %1 · min %2 · max %3 · mean %4 · std %5 · norm %6")
                    .arg(countText(static_cast<std::int64_t>(values.size())), shortValue(n > 0 ? low : 0),
                        shortValue(n > 0 ? high : 0), shortValue(mean),
                        shortValue(n > 0 ? std::sqrt(std::max(0.0, squares / n - mean * mean)) : 0),
                        shortValue(std::sqrt(squares)));
    if (odd > 0)
        text += ViewersText::tr(" · %1 not finite").arg(odd);
    return text;
}

void VectorView::setStatistics(const QString& text)
{
    m_statistics->setText(text);
}

void VectorView::setValues(std::vector<double> values)
{
    m_values = std::move(values);
    m_statistics->setText(statistics(m_values));
    m_line->setValues(&m_values, VectorCanvas::Form::Line);
    m_histogram->setValues(&m_values, VectorCanvas::Form::Histogram);
    std::vector<std::size_t> order(m_values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto count = std::min<std::size_t>(20, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [this](auto a, auto b) { return std::abs(m_values[a]) > std::abs(m_values[b]); });
    QStringList lines;
    for (std::size_t i = 0; i < count; ++i)
        lines += QStringLiteral("%1  %2").arg(order[i], 8).arg(m_values[order[i]], 14, 'g', 6);
    m_top->setText(lines.join(QLatin1Char('\n')));
}

} // namespace gb::ui
