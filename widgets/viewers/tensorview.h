// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QWidget>

#include "tensorfield.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QSlider;
class QStackedWidget;

namespace gb::ui {

class MatrixView;
class VectorView;

// Tensors of a result, one at a time: a vector or a matrix of it, leading dimensions by sliders. Numbers come
// as tiles, reduced by the host to what the window has pixels for, and statistics come from there too.
class TensorView final : public QWidget
{
    Q_OBJECT

public:
    explicit TensorView(QWidget* parent = nullptr);

    void setTensors(std::vector<HandleField> tensors, TensorFetch fetch);
    void choose(int index);
    void setSlice(int dimension, int at);
    QString statistics() const;
    QString problem() const;
    // All of the chosen tensor, from the host.
    void fetchWhole(api::AnswerHandler handler) const;
    const HandleField* chosen() const { return m_tensors.empty() ? nullptr : &m_tensors[m_chosen]; }

private:
    void makeSliders();
    void fetchStats();
    void fetchTile();
    void fetchWindow(const QRect& cells, const QSize& most);
    void showTile(const api::Answer& answer);
    void showHistogram();
    void showProblem(const Error& error);
    std::int64_t lead() const;
    const HandleField& tensor() const { return m_tensors[m_chosen]; }

    std::vector<HandleField> m_tensors;
    std::size_t m_chosen = 0;
    TensorFetch m_fetch;
    Json m_stats;
    int m_request = 0; // answers to older questions are dropped
    QList<QSlider*> m_sliders; // of the leading dimensions
    QComboBox* m_choice = nullptr;
    QLabel* m_about = nullptr;
    QLabel* m_problem = nullptr;
    QWidget* m_sliderBox = nullptr;
    QStackedWidget* m_stack = nullptr;
    MatrixView* m_matrix = nullptr;
    VectorView* m_vector = nullptr;
};

} // namespace gb::ui
