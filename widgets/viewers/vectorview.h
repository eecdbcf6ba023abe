// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include <QWidget>

class QLabel;

namespace gb::ui {

// Draws one pass over the numbers: the line (each pixel column shows its least and greatest value), or how
// often each size occurs.
class VectorCanvas final : public QWidget
{
    Q_OBJECT

public:
    enum class Form { Line, Histogram };

    explicit VectorCanvas(QWidget* parent = nullptr);
    void setValues(const std::vector<double>* values, Form form);
    QSize minimumSizeHint() const override { return {200, 120}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void paintLine(QPainter& painter, const QRectF& box);
    void paintHistogram(QPainter& painter, const QRectF& box);

    const std::vector<double>* m_values = nullptr;
    Form m_form = Form::Line;
    double m_low = 0;
    double m_high = 1;
    int m_hover = -1;
};

// Numbers in a row: statistics in one line, a line or a histogram, and the largest ones.
class VectorView final : public QWidget
{
    Q_OBJECT

public:
    explicit VectorView(QWidget* parent = nullptr);
    void setValues(std::vector<double> values);
    const std::vector<double>& values() const { return m_values; }
    // Numbers somebody else measured, of more values than are here.
    void setStatistics(const QString& text);
    static QString statistics(const std::vector<double>& values);

private:
    std::vector<double> m_values;
    QLabel* m_statistics = nullptr;
    QLabel* m_top = nullptr;
    VectorCanvas* m_line = nullptr;
    VectorCanvas* m_histogram = nullptr;
};

} // namespace gb::ui
