// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>
#include <vector>

#include <QAbstractScrollArea>
#include <QImage>
#include <QTimer>

#include "colorlegend.h"
#include "colormap.h"

class QComboBox;

namespace gb::ui {

struct Matrix
{
    int rows = 0;
    int columns = 0;
    std::vector<float> values; // row by row
    QString rowName, columnName;

    float at(int row, int column) const
    {
        return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns)
            + static_cast<std::size_t>(column)];
    }
};

// The least and the greatest of its numbers that are finite; 0 and 1 when none is.
std::pair<double, double> finiteRange(const Matrix& matrix);

// A matrix as colours: zoom with the wheel, the value under the cursor is read out below.
class MatrixView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit MatrixView(QWidget* parent = nullptr);
    void setMatrix(Matrix matrix);
    const Matrix& matrix() const { return m_whole.values; }
    // A matrix too large to be here: the overview covers all of it, coarser than its cells. What is looked at
    // is then asked for with windowWanted() and comes as a detail.
    void setOverview(Matrix coarse, int rows, int columns, double low, double high);
    void setDetail(Matrix part, const QRect& cells);
    void setRange(double low, double high); // of the values
    // The colours span the values from this percentile up to as far from the top; 0: all of them. One outlier
    // then does not make all others look alike.
    void setCut(int percent);
    int cut() const { return m_cut; }
    QString colorNote() const; // what the colours leave out, in words
    const ColorScale& scale() const { return m_scale; }
    QString readOut(int row, int column) const;

Q_SIGNALS:
    void windowWanted(const QRect& cells, const QSize& most); // at most as many values as pixels

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void updateScale();
    void placeChoice();
    QRect legendBar() const;
    void setZoom(double zoom);
    void updateBars();
    QPoint cellAt(QPoint point) const;
    QPoint origin() const;
    void paintLegend(QPainter& painter);
    void paintImage(QPainter& painter, const QImage& image, const QRectF& cells);
    QRect visibleCells() const;
    QSize roomSize() const;
    void wantWindow();
    QImage imageOf(const Matrix& matrix) const;
    struct Shown // values that cover some of the cells
    {
        Matrix values;
        QImage image;
        QRect cells;
    };
    const Shown& bestAt(int row, int column) const;

    Shown m_whole;
    Shown m_detail;
    int m_rows = 0;
    int m_columns = 0;
    QTimer m_soon;
    std::pair<double, double> m_range{0, 1};
    ColorScale m_scale;
    BeyondScale m_beyond;
    int m_cut = 0;
    bool m_stretched = false; // by a few values, far from the others
    QComboBox* m_choice = nullptr;
    double m_zoom = 1; // pixels per cell
    bool m_fitted = true;
    QPoint m_cell = {-1, -1};
};

} // namespace gb::ui
