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

constexpr int vectorAxis = 56; // at the left
constexpr int vectorTop = 22; // the read-out
constexpr int vectorFoot = 22; // the numbers of the axis
constexpr int histogramBins = 60;
constexpr int largestListed = 20;

QString shortValue(double value)
{
    return QString::number(value, 'g', 4);
}

} // namespace

std::int64_t VectorData::indexOf(std::size_t at) const
{
    if (!outline || values.empty())
        return static_cast<std::int64_t>(at);
    return static_cast<std::int64_t>(
        static_cast<double>(at) * static_cast<double>(total) / static_cast<double>(values.size()));
}

VectorCanvas::VectorCanvas(Form form, QWidget* parent) : QWidget(parent), m_form(form)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(
        form == Form::Line ? ViewersText::tr("Vector as a line") : ViewersText::tr("Vector as a histogram"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void VectorCanvas::setData(const VectorData* data)
{
    m_data = data;
    m_hover = -1;
    m_current = -1;
    m_low = data->low;
    m_high = data->high;
    if (!(m_low < m_high)) {
        m_low -= 1;
        m_high = m_low + 2;
    }
    update();
}

QRectF VectorCanvas::plotBox() const
{
    return {vectorAxis, vectorTop, std::max(1.0, width() - vectorAxis - double(space::m)),
        std::max(1.0, height() - double(vectorTop) - vectorFoot)};
}

int VectorCanvas::places() const
{
    return m_data ? static_cast<int>(m_form == Form::Line ? m_data->values.size() : m_data->bins.size()) : 0;
}

double VectorCanvas::placeX(const QRectF& box, int at) const
{
    if (m_form == Form::Histogram)
        return box.left() + box.width() * (at + 0.5) / std::max(1, places());
    return box.left() + box.width() * at / std::max(1, places() - 1);
}

int VectorCanvas::placeAt(double x) const
{
    const auto box = plotBox();
    const auto share = std::clamp((x - box.left()) / box.width(), 0.0, 1.0);
    if (m_form == Form::Histogram)
        return std::min(static_cast<int>(share * places()), places() - 1);
    return qRound(share * (places() - 1));
}

double VectorCanvas::valueY(const QRectF& box, double value) const
{
    return box.bottom() - (std::clamp(value, m_low, m_high) - m_low) / (m_high - m_low) * box.height();
}

QString VectorCanvas::readOut(int at) const
{
    if (at < 0 || at >= places())
        return {};
    if (m_form == Form::Histogram) {
        const auto step = (m_high - m_low) / places();
        const auto all = std::accumulate(m_data->bins.begin(), m_data->bins.end(), 0.0);
        const auto here = m_data->bins[static_cast<std::size_t>(at)];
        return ViewersText::tr("%1 … %2: %3 of %4 (%5 %)")
            .arg(shortValue(m_low + at * step), shortValue(m_low + (at + 1) * step),
                countText(static_cast<std::int64_t>(here)), countText(static_cast<std::int64_t>(all)),
                QString::number(all > 0 ? 100 * here / all : 0, 'g', 3));
    }
    if (!m_data->outline)
        return QStringLiteral("[%1]  %2")
            .arg(at)
            .arg(m_data->values[static_cast<std::size_t>(at)], 0, 'g', 6);
    const auto pair = static_cast<std::size_t>(at) / 2 * 2;
    const auto last = std::min(pair + 2, m_data->values.size());
    return ViewersText::tr("[%1 … %2]  least %3, greatest %4")
        .arg(m_data->indexOf(pair))
        .arg(std::max(m_data->indexOf(pair), m_data->indexOf(last) - 1))
        .arg(m_data->values[pair], 0, 'g', 6)
        .arg(m_data->values[last - 1], 0, 'g', 6);
}

void VectorCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), tokens().sunken);
    if (places() == 0)
        return;
    const auto box = plotBox();
    painter.setFont(Theme::instance().font(TextSize::Caption));
    paintAxes(painter, box);
    if (m_form == Form::Histogram)
        paintHistogram(painter, box);
    else if (m_data->values.size() > static_cast<std::size_t>(box.width()) * 2)
        paintOutline(painter, box);
    else
        paintLine(painter, box);
    paintCursor(painter, box);
}

// The values at the left and the numbers of the places below, as many as there is room for.
void VectorCanvas::paintAxes(QPainter& painter, const QRectF& box)
{
    const bool line = m_form == Form::Line;
    const auto highest = line || m_data->bins.empty() ? m_high : *std::ranges::max_element(m_data->bins);
    const auto text = [line](double value) {
        return line ? shortValue(value) : countText(static_cast<std::int64_t>(value));
    };
    const QRectF top(0, box.top() - 8, vectorAxis - space::s, 16);
    painter.setPen(tokens().secondary);
    painter.drawText(top, Qt::AlignRight | Qt::AlignVCenter, text(highest));
    painter.drawText(
        top.translated(0, box.height()), Qt::AlignRight | Qt::AlignVCenter, text(line ? m_low : 0));
    painter.setPen(tokens().border);
    painter.drawLine(box.bottomLeft(), box.bottomRight());
    if (line && m_low < 0 && m_high > 0) {
        painter.drawLine(QPointF(box.left(), valueY(box, 0)), QPointF(box.right(), valueY(box, 0)));
        const auto y = valueY(box, 0);
        painter.setPen(tokens().secondary);
        if (y > box.top() + 16 && y < box.bottom() - 16)
            painter.drawText(QRectF(0, y - 8, vectorAxis - space::s, 16), Qt::AlignRight | Qt::AlignVCenter,
                QStringLiteral("0"));
    }
    const auto steps = std::min(std::max(1, static_cast<int>(box.width() / 120)), std::max(1, places() - 1));
    for (int i = 0; i <= steps; ++i) {
        const auto share = static_cast<double>(i) / steps;
        const auto at = static_cast<int>(std::lround(share * (places() - 1)));
        const auto x = line ? placeX(box, at) : box.left() + share * box.width();
        const auto label = line ? QString::number(m_data->indexOf(static_cast<std::size_t>(at)))
                                : shortValue(m_low + share * (m_high - m_low));
        painter.setPen(tokens().border);
        painter.drawLine(QPointF(x, box.bottom()), QPointF(x, box.bottom() + 3));
        painter.setPen(tokens().secondary);
        const auto wide = painter.fontMetrics().horizontalAdvance(label);
        const auto left = std::clamp(x - wide / 2.0, 0.0, width() - wide - 2.0);
        painter.drawText(QRectF(left, box.bottom() + 4, wide + 2, 16), Qt::AlignVCenter, label);
        if (places() == 1)
            break;
    }
}

void VectorCanvas::paintLine(QPainter& painter, const QRectF& box)
{
    const auto& v = m_data->values;
    painter.setPen(QPen(tokens().accent, 1.5));
    painter.setBrush(Qt::NoBrush);
    QPainterPath path;
    for (std::size_t i = 0; i < v.size(); ++i) {
        const QPointF point(placeX(box, static_cast<int>(i)), valueY(box, v[i]));
        if (i == 0 || !std::isfinite(v[i]) || !std::isfinite(v[i - 1]))
            path.moveTo(point);
        else
            path.lineTo(point);
    }
    painter.drawPath(path);
    if (v.size() > 64)
        return;
    painter.setBrush(tokens().accent);
    for (std::size_t i = 0; i < v.size(); ++i)
        if (std::isfinite(v[i]))
            painter.drawEllipse(QPointF(placeX(box, static_cast<int>(i)), valueY(box, v[i])), 2, 2);
}

void VectorCanvas::paintOutline(QPainter& painter, const QRectF& box)
{
    const auto& v = m_data->values;
    const auto columns = static_cast<std::size_t>(box.width());
    painter.setPen(QPen(tokens().accent, 1.5));
    for (std::size_t x = 0; x < columns; ++x) {
        double least = HUGE_VAL;
        double greatest = -HUGE_VAL;
        for (auto i = v.size() * x / columns; i < v.size() * (x + 1) / columns; ++i)
            if (std::isfinite(v[i])) {
                least = std::min(least, v[i]);
                greatest = std::max(greatest, v[i]);
            }
        const auto at = box.left() + static_cast<double>(x);
        if (least <= greatest)
            painter.drawLine(QPointF(at, valueY(box, least)), QPointF(at, valueY(box, greatest) - 1));
    }
}

void VectorCanvas::paintHistogram(QPainter& painter, const QRectF& box)
{
    const auto highest = std::max(1.0, *std::ranges::max_element(m_data->bins));
    painter.setPen(Qt::NoPen);
    const auto step = box.width() / places();
    for (int i = 0; i < places(); ++i) {
        const auto here = m_data->bins[static_cast<std::size_t>(i)];
        // Even one in a million is seen.
        const auto tall = here > 0 ? std::max(1.0, box.height() * here / highest) : 0;
        painter.setBrush(i == current() ? tokens().text : tokens().accent);
        painter.drawRect(QRectF(box.left() + step * i, box.bottom() - tall, std::max(1.0, step - 1), tall));
    }
}

void VectorCanvas::paintCursor(QPainter& painter, const QRectF& box)
{
    const QRectF top(box.left(), 2, box.width(), vectorTop - 6);
    if (current() < 0 || current() >= places()) {
        painter.setPen(tokens().secondary);
        painter.drawText(top, Qt::AlignVCenter | Qt::AlignRight,
            m_data->outline && m_form == Form::Line
                ? ViewersText::tr("outline of %1 numbers: the least and the greatest of each stretch")
                      .arg(countText(m_data->total))
                : hasFocus() ? ViewersText::tr("arrow keys read out")
                             : QString());
        return;
    }
    if (m_form == Form::Line) {
        const auto x = placeX(box, current());
        painter.setPen(tokens().secondary);
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
        if (const auto value = m_data->values[static_cast<std::size_t>(current())]; std::isfinite(value)) {
            painter.setPen(QPen(tokens().text, 1));
            painter.setBrush(tokens().accent);
            painter.drawEllipse(QPointF(x, valueY(box, value)), 3.5, 3.5);
        }
    }
    painter.setPen(tokens().text);
    painter.drawText(top, Qt::AlignVCenter | Qt::AlignRight, readOut(current()));
}

void VectorCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (places() == 0)
        return;
    m_hover = placeAt(event->position().x());
    update();
}

void VectorCanvas::mousePressEvent(QMouseEvent* event)
{
    if (places() > 0)
        moveTo(placeAt(event->position().x()));
}

void VectorCanvas::leaveEvent(QEvent*)
{
    m_hover = -1;
    update();
}

void VectorCanvas::moveTo(int at)
{
    m_hover = -1;
    m_current = std::clamp(at, 0, places() - 1);
    setAccessibleDescription(readOut(m_current));
    update();
}

void VectorCanvas::keyPressEvent(QKeyEvent* event)
{
    if (places() == 0)
        return QWidget::keyPressEvent(event);
    const auto far = std::max(1, places() / 20);
    switch (event->key()) {
    case Qt::Key_Right:
        return moveTo(m_current + 1);
    case Qt::Key_Left:
        return moveTo(m_current - 1);
    case Qt::Key_PageDown:
        return moveTo(m_current + far);
    case Qt::Key_PageUp:
        return moveTo(m_current - far);
    case Qt::Key_Home:
        return moveTo(0);
    case Qt::Key_End:
        return moveTo(places() - 1);
    default:
        QWidget::keyPressEvent(event);
    }
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
    m_line = new VectorCanvas(VectorCanvas::Form::Line);
    m_histogram = new VectorCanvas(VectorCanvas::Form::Histogram);
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

void VectorView::setValues(std::vector<double> values)
{
    m_data = {std::move(values), false, 0, {}, 0, 1};
    m_data.total = std::ssize(m_data.values);
    m_statistics->setText(statistics(m_data.values));
    m_statistics->show();
    showData();
}

void VectorView::setOutline(std::vector<double> values, std::int64_t total)
{
    m_data = {std::move(values), true, total, {}, 0, 1};
    m_statistics->hide(); // those of an outline would be others
    showData();
}

void VectorView::setHistogram(std::vector<double> bins, double low, double high)
{
    m_data.bins = std::move(bins);
    m_data.low = low;
    m_data.high = high;
    m_line->setData(&m_data);
    m_histogram->setData(&m_data);
}

void VectorView::showData()
{
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (const auto value : m_data.values)
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    const bool any = low <= high;
    if (!any)
        low = high = 0;
    if (low == high) { // one size stands in the middle
        low -= 0.5;
        high += 0.5;
    }
    std::vector<double> bins;
    // The sizes in an outline are not those of the numbers.
    if (any && !m_data.outline) {
        bins.resize(histogramBins);
        for (const auto value : m_data.values)
            if (std::isfinite(value))
                ++bins[std::min<std::size_t>(
                    static_cast<std::size_t>((value - low) / (high - low) * histogramBins),
                    histogramBins - 1)];
    }
    setHistogram(std::move(bins), low, high);
    listLargest();
}

void VectorView::listLargest()
{
    const auto& values = m_data.values;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isfinite(values[i]))
            order.push_back(i);
    const auto count = std::min<std::size_t>(largestListed, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [&values](auto a, auto b) { return std::abs(values[a]) > std::abs(values[b]); });
    QStringList lines;
    lines += m_data.outline ? ViewersText::tr("   about    largest by size")
                            : ViewersText::tr("   index    largest by size");
    for (std::size_t i = 0; i < count; ++i)
        lines += QStringLiteral("%1  %2").arg(m_data.indexOf(order[i]), 8).arg(values[order[i]], 14, 'g', 6);
    m_top->setText(lines.join(QLatin1Char('\n')));
}

} // namespace gb::ui
