// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include <QWidget>

class QLabel;

namespace gb::ui {

// The numbers that are drawn. Of more than can be held there is an outline: the least and the greatest of
// each stretch, one after the other.
struct VectorData
{
    std::vector<double> values;
    bool outline = false;
    std::int64_t total = 0; // how many numbers they stand for
    std::vector<double> bins; // how often each size occurs, from low to high; counted here when empty
    double low = 0;
    double high = 1;

    std::int64_t indexOf(std::size_t at) const; // of the number that stands there, or of its stretch
};

// Draws one pass over the numbers: the line (each pixel column shows its least and greatest value), or how
// often each size occurs. What is under the mouse or the keyboard's cursor is read out.
class VectorCanvas final : public QWidget
{
    Q_OBJECT

public:
    enum class Form { Line, Histogram };

    explicit VectorCanvas(Form form, QWidget* parent = nullptr);
    void setData(const VectorData* data);
    QSize minimumSizeHint() const override { return {200, 120}; }
    QString readOut(int at) const; // of a number, or of a bar of the histogram
    int current() const { return m_hover >= 0 ? m_hover : m_current; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRectF plotBox() const;
    int places() const; // numbers, or bars
    int placeAt(double x) const;
    double placeX(const QRectF& box, int at) const;
    void moveTo(int at);
    void paintAxes(QPainter& painter, const QRectF& box);
    void paintLine(QPainter& painter, const QRectF& box);
    void paintOutline(QPainter& painter, const QRectF& box);
    void paintHistogram(QPainter& painter, const QRectF& box);
    void paintCursor(QPainter& painter, const QRectF& box);
    double valueY(const QRectF& box, double value) const;

    const VectorData* m_data = nullptr;
    Form m_form;
    double m_low = 0; // of what is drawn
    double m_high = 1;
    int m_hover = -1;
    int m_current = -1; // the keyboard's
};

// Numbers in a row: statistics in one line, a line or a histogram, and the largest ones.
class VectorView final : public QWidget
{
    Q_OBJECT

public:
    explicit VectorView(QWidget* parent = nullptr);
    void setValues(std::vector<double> values);
    // An outline of `total` numbers: the least and the greatest of each stretch, one after the other.
    void setOutline(std::vector<double> values, std::int64_t total);
    // How often each size occurs in all of them, counted by somebody else.
    void setHistogram(std::vector<double> bins, double low, double high);
    const std::vector<double>& values() const { return m_data.values; }
    bool isOutline() const { return m_data.outline; }
    static QString statistics(const std::vector<double>& values);

private:
    void showData();
    void listLargest();

    VectorData m_data;
    QLabel* m_statistics = nullptr;
    QLabel* m_top = nullptr;
    VectorCanvas* m_line = nullptr;
    VectorCanvas* m_histogram = nullptr;
};

} // namespace gb::ui
