// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>

#include <QWidget>

#include "imageview.h"

class QComboBox;
class QLabel;

namespace gb::ui {

// Two images beside each other; a third shows where they differ, or takes their place.
class ImageCompare final : public QWidget
{
    Q_OBJECT

public:
    enum class Look { SideBySide, Difference, Left, Right };

    explicit ImageCompare(QWidget* parent = nullptr);
    void setImages(const HandleField& left, const TensorFetch& fetchLeft, const HandleField& right,
        const TensorFetch& fetchRight);
    void setLook(Look look);
    QString summary() const;
    const QImage& difference() const { return m_difference; }

private:
    void compare();

    std::array<ImageView*, 3> m_views{}; // left, right, the difference
    QImage m_difference;
    QComboBox* m_choice = nullptr;
    QLabel* m_summary = nullptr;
};

} // namespace gb::ui
