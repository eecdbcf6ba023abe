// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include <QAbstractScrollArea>
#include <QImage>

#include "colormap.h"

namespace gb::ui {

struct Matrix
{
    int rows = 0;
    int columns = 0;
    std::vector<float> values; // row by row
    QString rowName, columnName;
};

// A matrix as colours: zoom with the wheel, the value under the cursor is read out below.
class MatrixView final : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit MatrixView(QWidget* parent = nullptr);
    void setMatrix(Matrix matrix);
    const ColorScale& scale() const { return m_scale; }
    QString readOut(int row, int column) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void setZoom(double zoom);
    void updateBars();
    QPoint cellAt(QPoint point) const;
    QPoint origin() const;
    void paintLegend(QPainter& painter);

    Matrix m_matrix;
    ColorScale m_scale;
    QImage m_image;
    double m_zoom = 1; // pixels per cell
    QPoint m_cell = {-1, -1};
};

} // namespace gb::ui
