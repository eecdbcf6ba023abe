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

#include "text.h"

namespace gb::ui {
namespace {

constexpr int matrixLegend = 84; // at the right
constexpr int matrixFoot = 24;
constexpr int matrixEdge = 20;
constexpr int windowSoonMs = 60; // a wheel turns in steps

} // namespace

MatrixView::MatrixView(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(ViewersText::tr("Matrix as colours"));
    viewport()->setMouseTracking(true);
    m_soon.setSingleShot(true);
    m_soon.setInterval(windowSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &MatrixView::wantWindow);
    for (auto* bar : {horizontalScrollBar(), verticalScrollBar()})
        connect(bar, &QScrollBar::valueChanged, &m_soon, qOverload<>(&QTimer::start));
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

std::pair<double, double> finiteRange(const Matrix& matrix)
{
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (const auto value : matrix.values)
        if (std::isfinite(value)) {
            low = std::min<double>(low, value);
            high = std::max<double>(high, value);
        }
    return low <= high ? std::pair(low, high) : std::pair(0.0, 1.0);
}

void MatrixView::setMatrix(Matrix matrix)
{
    const auto [low, high] = finiteRange(matrix);
    const auto rows = matrix.rows;
    const auto columns = matrix.columns;
    setOverview(std::move(matrix), rows, columns, low, high);
}

void MatrixView::setRange(double low, double high)
{
    const auto scale = ColorScale::of(low, high);
    if (scale == m_scale)
        return;
    m_scale = scale;
    m_whole.image = imageOf(m_whole.values);
    m_detail.image = imageOf(m_detail.values);
    viewport()->update();
}

void MatrixView::setOverview(Matrix coarse, int rows, int columns, double low, double high)
{
    const bool sameSize = rows == m_rows && columns == m_columns;
    m_scale = ColorScale::of(low, high);
    m_rows = rows;
    m_columns = columns;
    m_whole.image = imageOf(coarse);
    m_whole.cells = QRect(0, 0, columns, rows);
    m_whole.values = std::move(coarse);
    m_detail = {};
    m_cell = {-1, -1};
    // Going through slices keeps the place that is looked at.
    setZoom(sameSize && !m_fitted ? m_zoom : 0);
}

void MatrixView::setDetail(Matrix part, const QRect& cells)
{
    m_detail.image = imageOf(part);
    m_detail.values = std::move(part);
    m_detail.cells = cells;
    viewport()->update();
}

QImage MatrixView::imageOf(const Matrix& matrix) const
{
    QImage image(matrix.columns, matrix.rows, QImage::Format_ARGB32);
    for (int row = 0; row < matrix.rows; ++row) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(row));
        for (int column = 0; column < matrix.columns; ++column)
            line[column] = m_scale.color(matrix.at(row, column));
    }
    return image;
}

QSize MatrixView::roomSize() const
{
    return {std::max(1, viewport()->width() - matrixLegend - matrixEdge),
        std::max(1, viewport()->height() - matrixFoot - matrixEdge)};
}

QRect MatrixView::visibleCells() const
{
    const auto room = roomSize();
    const auto left = static_cast<int>((matrixEdge - origin().x()) / m_zoom);
    const auto top = static_cast<int>((matrixEdge - origin().y()) / m_zoom);
    return QRect(left, top, static_cast<int>(room.width() / m_zoom) + 2,
               static_cast<int>(room.height() / m_zoom) + 2)
        & QRect(0, 0, m_columns, m_rows);
}

void MatrixView::wantWindow()
{
    const bool whole = m_whole.values.columns == m_columns && m_whole.values.rows == m_rows;
    const auto cells = visibleCells();
    if (whole || cells.isEmpty() || cells == m_detail.cells)
        return;
    // The overview is as fine as the pixels: nothing to win.
    if (m_whole.values.columns >= m_columns * std::min(1.0, m_zoom)
        && m_whole.values.rows >= m_rows * std::min(1.0, m_zoom))
        return;
    Q_EMIT windowWanted(cells, roomSize());
}

const MatrixView::Shown& MatrixView::bestAt(int row, int column) const
{
    return m_detail.cells.contains(column, row) ? m_detail : m_whole;
}

void MatrixView::setZoom(double zoom)
{
    if (m_rows == 0 || m_columns == 0)
        return;
    m_fitted = zoom <= 0;
    const auto room = roomSize();
    const auto fit = std::min(double(room.width()) / m_columns, double(room.height()) / m_rows);
    m_zoom = zoom <= 0 ? std::min(fit, 28.0) : std::clamp(zoom, std::min(fit, 1.0), 64.0);
    updateBars();
    m_soon.start();
    viewport()->update();
}

void MatrixView::updateBars()
{
    const auto room = roomSize();
    horizontalScrollBar()->setPageStep(room.width());
    horizontalScrollBar()->setRange(0, std::max(0, static_cast<int>(m_columns * m_zoom) - room.width()));
    verticalScrollBar()->setPageStep(room.height());
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(m_rows * m_zoom) - room.height()));
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
    const bool inside = cell.x() >= 0 && cell.y() >= 0 && cell.x() < m_columns && cell.y() < m_rows;
    return inside ? cell : QPoint(-1, -1);
}

QString MatrixView::readOut(int row, int column) const
{
    if (row < 0 || column < 0 || row >= m_rows || column >= m_columns)
        return {};
    const auto& shown = bestAt(row, column);
    const auto& cells = shown.cells;
    const auto value = shown.values.at(
        static_cast<int>((static_cast<qint64>(row) - cells.y()) * shown.values.rows / cells.height()),
        static_cast<int>((static_cast<qint64>(column) - cells.x()) * shown.values.columns / cells.width()));
    const bool exact = shown.values.rows == cells.height() && shown.values.columns == cells.width();
    const auto name = [](const QString& given, const QString& fallback) {
        return given.isEmpty() ? fallback : given;
    };
    return (
        exact ? ViewersText::tr("%1 %2, %3 %4: %5") : ViewersText::tr("%1 %2, %3 %4: %5 (mean around it)"))
        .arg(name(m_whole.values.rowName, ViewersText::tr("row")))
        .arg(row)
        .arg(name(m_whole.values.columnName, ViewersText::tr("column")))
        .arg(column)
        .arg(value, 0, 'g', 6);
}

void MatrixView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), tokens().sunken);
    if (m_whole.image.isNull())
        return;
    const QRect room(QPoint(matrixEdge, matrixEdge), roomSize());
    painter.setClipRect(room);
    const auto from = origin();
    paintImage(painter, m_whole.image, m_whole.cells);
    if (!m_detail.image.isNull())
        paintImage(painter, m_detail.image, m_detail.cells);
    if (m_cell.x() >= 0 && m_zoom >= 4) {
        painter.setPen(QPen(tokens().text, 2));
        painter.drawRect(
            QRectF(from.x() + m_cell.x() * m_zoom, from.y() + m_cell.y() * m_zoom, m_zoom, m_zoom));
    }
    painter.setClipping(false);
    painter.setFont(Theme::instance().font(TextSize::Caption));
    painter.setPen(tokens().secondary);
    const auto text = m_cell.x() >= 0 ? readOut(m_cell.y(), m_cell.x())
                                      : ViewersText::tr("%1 × %2 · wheel zooms").arg(m_rows).arg(m_columns);
    painter.drawText(
        QRect(matrixEdge, viewport()->height() - matrixFoot, viewport()->width() - matrixEdge, matrixFoot),
        Qt::AlignVCenter, text);
    painter.drawText(
        QRect(matrixEdge, 0, room.width(), matrixEdge), Qt::AlignVCenter, m_whole.values.columnName);
    painter.save();
    painter.translate(matrixEdge - 6, room.bottom());
    painter.rotate(-90);
    painter.drawText(0, 0, m_whole.values.rowName);
    painter.restore();
    paintLegend(painter);
}

void MatrixView::paintImage(QPainter& painter, const QImage& image, const QRectF& cells)
{
    // Only what is visible: a zoomed picture of 10⁸ cells must not be scaled as a whole.
    const QRectF seen = cells & QRectF(visibleCells());
    if (seen.isEmpty())
        return;
    const auto perColumn = image.width() / cells.width();
    const auto perRow = image.height() / cells.height();
    const QRectF source((seen.x() - cells.x()) * perColumn, (seen.y() - cells.y()) * perRow,
        seen.width() * perColumn, seen.height() * perRow);
    const QRectF target(QPointF(origin()) + seen.topLeft() * m_zoom, seen.size() * m_zoom);
    painter.setRenderHint(QPainter::SmoothPixmapTransform, m_zoom < 1);
    painter.drawImage(target, image, source);
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
    // Also sent when scroll bars appear, which must not undo the zoom that called for them.
    setZoom(m_fitted ? 0 : m_zoom);
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
        m_cell = {std::clamp(m_cell.x() + dx, 0, m_columns - 1), std::clamp(m_cell.y() + dy, 0, m_rows - 1)};
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
