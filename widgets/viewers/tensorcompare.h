// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include <QObject>

#include "tensorfield.h"

namespace gb::ui {

// How far two tensors of one shape are apart, over the places where both are finite.
struct TensorDifference
{
    std::int64_t count = 0;
    std::int64_t odd = 0; // places where one is not finite and the other not the same
    double greatest = 0;
    double mean = 0;
    double cosine = 1;

    bool same() const { return odd == 0 && greatest == 0; }
};

// The numbers of a slice as they travel, or nothing for a type that has no order.
std::optional<std::vector<double>> numbersOf(const std::string& dtype, const std::string& bytes);

// Compares two tensors that hosts hold, a few megabytes at a time: no host can see the other's, and neither
// fits here. It ends with finished(); deleting it stops it.
class TensorCompare final : public QObject
{
    Q_OBJECT

public:
    struct Side
    {
        HandleField tensor;
        TensorFetch fetch;
    };

    TensorCompare(Side left, Side right, QObject* parent = nullptr);
    void start();
    const TensorDifference& difference() const { return m_difference; }
    // Why there is none: other shapes, a type without numbers, a tensor that is gone.
    const std::optional<Error>& error() const { return m_error; }

Q_SIGNALS:
    void progressed(double share);
    void finished();

private:
    void askNext();
    void take(bool isLeft, Result<api::Answer> answer);
    void addUp();
    QString sliceAt(std::int64_t piece) const;
    void end(std::optional<Error> error = {});

    Side m_left;
    Side m_right;
    std::size_t m_axis = 0; // pieces are ranges along it, at one place in the dimensions before
    std::int64_t m_step = 1;
    std::int64_t m_piece = 0;
    std::int64_t m_pieces = 0;
    std::optional<std::vector<double>> m_leftNumbers;
    std::optional<std::vector<double>> m_rightNumbers;
    TensorDifference m_difference;
    double m_sum = 0;
    double m_dot = 0;
    double m_leftSquares = 0;
    double m_rightSquares = 0;
    std::optional<Error> m_error;
    bool m_ended = false;
};

} // namespace gb::ui
