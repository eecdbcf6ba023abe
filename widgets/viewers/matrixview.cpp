// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "matrixview.h"

#include <algorithm>
#include <cmath>

#include <QComboBox>
#include <QHoverEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include <widgets/controls/theme.h>

#include "text.h"

namespace gb::ui {
namespace {

constexpr int matrixLegend = 128; // at the right
constexpr int matrixFoot = 24;
constexpr int matrixEdge = 20;
constexpr double largestCell = 48; // of a small matrix
constexpr int windowSoonMs = 60; // a wheel turns in steps
constexpr int colorCuts[] = {0, 1, 5};
constexpr std::size_t cutSample = 100'000; // of a larger matrix, evenly spread
constexpr double stretchedBy = 5;

// The values at this percentile and as far from the top.
std::pair<double, double> percentileRange(const Matrix& matrix, int percent)
{
    std::vector<float> values;
    const auto step = std::max<std::size_t>(1, matrix.values.size() / cutSample);
    values.reserve(matrix.values.size() / step + 1);
    for (std::size_t i = 0; i < matrix.values.size(); i += step)
        if (std::isfinite(matrix.values[i]))
            values.push_back(matrix.values[i]);
    if (values.empty())
        return {0, 0};
    const auto off = (values.size() - 1) * static_cast<std::size_t>(percent) / 100;
    const auto low = values.begin() + static_cast<std::ptrdiff_t>(off);
    std::nth_element(values.begin(), low, values.end());
    const double least = *low;
    const auto high = values.end() - 1 - static_cast<std::ptrdiff_t>(off);
    std::nth_element(values.begin(), high, values.end());
    return {least, *high};
}

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
    m_choice = new QComboBox(this);
    m_choice->setAccessibleName(ViewersText::tr("What the colours span"));
    m_choice->setToolTip(ViewersText::tr("The percentiles of the values shown that the colours span. What "
                                         "lies beyond has the colour of the end, "
                                         "so that an outlier does not make all others look alike. (R)"));
    for (const auto percent : colorCuts)
        m_choice->addItem(percent == 0 ? ViewersText::tr("All")
                                       : ViewersText::tr("%1–%2 %").arg(percent).arg(100 - percent));
    connect(m_choice, &QComboBox::activated, this, [this](int index) { setCut(colorCuts[index]); });
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
    m_range = {low, high};
    const auto before = m_scale;
    updateScale();
    if (before == m_scale)
        return viewport()->update();
    m_whole.image = imageOf(m_whole.values);
    m_detail.image = imageOf(m_detail.values);
    viewport()->update();
}

void MatrixView::setCut(int percent)
{
    m_cut = percent;
    m_choice->setCurrentIndex(
        static_cast<int>(std::ranges::find(colorCuts, percent) - std::begin(colorCuts)));
    setRange(m_range.first, m_range.second);
}

void MatrixView::updateScale()
{
    const auto [low, high] = percentileRange(m_whole.values, std::max(1, m_cut));
    m_stretched = high > low && m_range.second - m_range.first > stretchedBy * (high - low);
    // Where nearly all values are one, the others are what there is to see.
    const bool narrowed = m_cut > 0 && high > low;
    m_scale = narrowed ? ColorScale::of(low, high) : ColorScale::of(m_range.first, m_range.second);
    m_beyond = {m_range.first<m_scale.low, m_range.second> m_scale.high};
    setAccessibleDescription(colorNote());
}

QString MatrixView::colorNote() const
{
    if (m_beyond.below || m_beyond.above)
        return ViewersText::tr("colours span %1–%2 % · values reach from %3 to %4")
            .arg(m_cut)
            .arg(100 - m_cut)
            .arg(m_range.first, 0, 'g', 4)
            .arg(m_range.second, 0, 'g', 4);
    if (m_cut > 0)
        return ViewersText::tr("colours span all values");
    return m_stretched ? ViewersText::tr("few values stretch the colours: R spans 1–99 %") : QString();
}

void MatrixView::setOverview(Matrix coarse, int rows, int columns, double low, double high)
{
    const bool sameSize = rows == m_rows && columns == m_columns;
    m_rows = rows;
    m_columns = columns;
    m_whole.values = std::move(coarse);
    m_whole.cells = QRect(0, 0, columns, rows);
    m_range = {low, high};
    updateScale();
    m_whole.image = imageOf(m_whole.values);
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
    m_zoom = zoom <= 0 ? std::min(fit, largestCell) : std::clamp(zoom, std::min(fit, 1.0), 64.0);
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
    const auto note = colorNote();
    painter.drawText(
        QRect(matrixEdge, viewport()->height() - matrixFoot, viewport()->width() - matrixEdge, matrixFoot),
        Qt::AlignVCenter, note.isEmpty() ? text : text + QStringLiteral(" · ") + note);
    painter.drawText(
        QRect(matrixEdge, 0, room.width(), matrixEdge), Qt::AlignVCenter, m_whole.values.columnName);
    painter.save();
    // Beside the matrix, also when that is lower than its place.
    painter.translate(matrixEdge - 6, std::min(room.bottom(), from.y() + static_cast<int>(m_rows * m_zoom)));
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

// At the right, above the choice of what the colours span.
QRect MatrixView::legendBar() const
{
    const auto room = viewport()->height() - matrixFoot - matrixEdge - m_choice->sizeHint().height()
        - 2 * space::s - QFontMetrics(Theme::instance().font(TextSize::Caption)).height();
    return {viewport()->width() - matrixLegend + space::m, matrixEdge, space::m, std::clamp(room, 2, 220)};
}

void MatrixView::paintLegend(QPainter& painter)
{
    const auto bar = legendBar();
    paintColorLegend(painter, bar, Qt::Vertical, m_scale, m_beyond);
    painter.drawText(QRect(bar.left(), bar.bottom() + space::s, matrixLegend, painter.fontMetrics().height()),
        Qt::AlignLeft, ViewersText::tr("Colours span"));
}

void MatrixView::placeChoice()
{
    const auto bar = legendBar();
    const auto tall = QFontMetrics(Theme::instance().font(TextSize::Caption)).height();
    m_choice->setGeometry(bar.left(), bar.bottom() + space::s + tall + 2, matrixLegend - space::m - space::xs,
        m_choice->sizeHint().height());
}

void MatrixView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    placeChoice();
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
    case Qt::Key_R:
        return setCut(colorCuts[(m_choice->currentIndex() + 1) % std::size(colorCuts)]);
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
