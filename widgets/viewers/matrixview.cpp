// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "matrixview.h"

#include <algorithm>
#include <cmath>

#include <QHoverEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include <widgets/controls/theme.h>

namespace gb::ui {
namespace {

constexpr int matrixLegend = 84; // at the right
constexpr int matrixFoot = 24;
constexpr int matrixEdge = 20;

} // namespace

MatrixView::MatrixView(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Matrix as colours"));
    viewport()->setMouseTracking(true);
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void MatrixView::setMatrix(Matrix matrix)
{
    m_matrix = std::move(matrix);
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (const auto value : m_matrix.values)
        if (std::isfinite(value)) {
            low = std::min<double>(low, value);
            high = std::max<double>(high, value);
        }
    m_scale = ColorScale::of(low <= high ? low : 0, low <= high ? high : 1);
    m_image = QImage(m_matrix.columns, m_matrix.rows, QImage::Format_ARGB32);
    for (int row = 0; row < m_matrix.rows; ++row) {
        auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(row));
        for (int column = 0; column < m_matrix.columns; ++column)
            line[column] = m_scale.color(
                m_matrix.values[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_matrix.columns)
                    + static_cast<std::size_t>(column)]);
    }
    m_cell = {-1, -1};
    setZoom(0);
}

void MatrixView::setZoom(double zoom)
{
    if (m_matrix.rows == 0 || m_matrix.columns == 0)
        return;
    const auto fit = std::min(double(viewport()->width() - matrixLegend - matrixEdge) / m_matrix.columns,
        double(viewport()->height() - matrixFoot - matrixEdge) / m_matrix.rows);
    m_zoom = zoom <= 0 ? std::clamp(fit, 0.05, 28.0) : std::clamp(zoom, 0.05, 64.0);
    updateBars();
    viewport()->update();
}

void MatrixView::updateBars()
{
    const auto room = QSize(
        viewport()->width() - matrixLegend - matrixEdge, viewport()->height() - matrixFoot - matrixEdge);
    horizontalScrollBar()->setPageStep(room.width());
    horizontalScrollBar()->setRange(
        0, std::max(0, static_cast<int>(m_matrix.columns * m_zoom) - room.width()));
    verticalScrollBar()->setPageStep(room.height());
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(m_matrix.rows * m_zoom) - room.height()));
}

QPoint MatrixView::origin() const
{
    return {matrixEdge - horizontalScrollBar()->value(), matrixEdge - verticalScrollBar()->value()};
}

QPoint MatrixView::cellAt(QPoint point) const
{
    const auto at = point - origin();
    const QPoint cell(
        static_cast<int>(std::floor(at.x() / m_zoom)), static_cast<int>(std::floor(at.y() / m_zoom)));
    const bool inside =
        cell.x() >= 0 && cell.y() >= 0 && cell.x() < m_matrix.columns && cell.y() < m_matrix.rows;
    return inside ? cell : QPoint(-1, -1);
}

QString MatrixView::readOut(int row, int column) const
{
    if (row < 0 || column < 0 || row >= m_matrix.rows || column >= m_matrix.columns)
        return {};
    const auto value =
        m_matrix.values[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_matrix.columns)
            + static_cast<std::size_t>(column)];
    const auto name = [](const QString& given, const QString& fallback) {
        return given.isEmpty() ? fallback : given;
    };
    return tr("%1 %2, %3 %4: %5")
        .arg(name(m_matrix.rowName, tr("row")))
        .arg(row)
        .arg(name(m_matrix.columnName, tr("column")))
        .arg(column)
        .arg(value, 0, 'g', 6);
}

void MatrixView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), tokens().sunken);
    if (m_image.isNull())
        return;
    const QRect room(matrixEdge, matrixEdge, viewport()->width() - matrixLegend - matrixEdge,
        viewport()->height() - matrixFoot - matrixEdge);
    painter.setClipRect(room);
    // Only what is visible: a zoomed picture of 10⁸ cells must not be scaled as a whole.
    const auto from = origin();
    const auto first = QPointF((room.left() - from.x()) / m_zoom, (room.top() - from.y()) / m_zoom);
    const QRectF source(first, QSizeF(room.width() / m_zoom, room.height() / m_zoom));
    painter.setRenderHint(QPainter::SmoothPixmapTransform, m_zoom < 1);
    painter.drawImage(QRectF(room), m_image, source);
    if (m_cell.x() >= 0 && m_zoom >= 4) {
        painter.setPen(QPen(tokens().text, 2));
        painter.drawRect(
            QRectF(from.x() + m_cell.x() * m_zoom, from.y() + m_cell.y() * m_zoom, m_zoom, m_zoom));
    }
    painter.setClipping(false);
    painter.setFont(Theme::instance().font(TextSize::Caption));
    painter.setPen(tokens().secondary);
    const auto text = m_cell.x() >= 0 ? readOut(m_cell.y(), m_cell.x())
                                      : tr("%1 × %2 · wheel zooms").arg(m_matrix.rows).arg(m_matrix.columns);
    painter.drawText(
        QRect(matrixEdge, viewport()->height() - matrixFoot, viewport()->width() - matrixEdge, matrixFoot),
        Qt::AlignVCenter, text);
    painter.drawText(QRect(matrixEdge, 0, room.width(), matrixEdge), Qt::AlignVCenter, m_matrix.columnName);
    painter.save();
    painter.translate(matrixEdge - 6, room.bottom());
    painter.rotate(-90);
    painter.drawText(0, 0, m_matrix.rowName);
    painter.restore();
    paintLegend(painter);
}

void MatrixView::paintLegend(QPainter& painter)
{
    const QRect bar(viewport()->width() - matrixLegend + space::m, matrixEdge, space::m,
        std::min(viewport()->height() - matrixFoot - matrixEdge, 220));
    for (int y = 0; y < bar.height(); ++y) {
        const auto share = 1 - double(y) / (bar.height() - 1);
        painter.fillRect(bar.left(), bar.top() + y, bar.width(), 1,
            QColor(m_scale.color(m_scale.low + share * (m_scale.high - m_scale.low))));
    }
    const auto number = [](double value) { return QString::number(value, 'g', 3); };
    const auto x = bar.right() + space::xs + 1;
    painter.drawText(x, bar.top() + 9, number(m_scale.high));
    painter.drawText(x, bar.center().y() + 4, number((m_scale.low + m_scale.high) / 2));
    painter.drawText(x, bar.bottom(), number(m_scale.low));
}

void MatrixView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    setZoom(0);
}

void MatrixView::wheelEvent(QWheelEvent* event)
{
    if (event->modifiers() & Qt::ShiftModifier) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    const auto at = event->position().toPoint();
    const auto before = QPointF(at - origin()) / m_zoom;
    setZoom(m_zoom * std::pow(1.2, event->angleDelta().y() / 120.0));
    // The cell under the cursor stays there.
    horizontalScrollBar()->setValue(static_cast<int>(before.x() * m_zoom) + matrixEdge - at.x());
    verticalScrollBar()->setValue(static_cast<int>(before.y() * m_zoom) + matrixEdge - at.y());
    event->accept();
}

void MatrixView::keyPressEvent(QKeyEvent* event)
{
    const auto move = [this](int dx, int dy) {
        m_cell = {std::clamp(m_cell.x() + dx, 0, m_matrix.columns - 1),
            std::clamp(m_cell.y() + dy, 0, m_matrix.rows - 1)};
        setAccessibleDescription(readOut(m_cell.y(), m_cell.x()));
        viewport()->update();
    };
    switch (event->key()) {
    case Qt::Key_Plus:
        return setZoom(m_zoom * 1.5);
    case Qt::Key_Minus:
        return setZoom(m_zoom / 1.5);
    case Qt::Key_0:
        return setZoom(0);
    case Qt::Key_Left:
        return move(-1, 0);
    case Qt::Key_Right:
        return move(1, 0);
    case Qt::Key_Up:
        return move(0, -1);
    case Qt::Key_Down:
        return move(0, 1);
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

bool MatrixView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::MouseMove || event->type() == QEvent::Leave) {
        const auto cell = event->type() == QEvent::Leave
            ? QPoint(-1, -1)
            : cellAt(static_cast<QMouseEvent*>(event)->position().toPoint());
        if (cell != m_cell) {
            m_cell = cell;
            viewport()->update();
        }
    }
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace gb::ui
