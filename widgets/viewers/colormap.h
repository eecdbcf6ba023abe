// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QColor>
#include <QList>

namespace gb::ui {

// Perceptually uniform, safe for the colour-blind: sequential (viridis), or diverging around zero.
QRgb sequentialColor(double share); // 0 … 1
QRgb divergingColor(double share); // -1 … 1

// What the colours of a picture of numbers span. With both signs it lies symmetrically around zero.
struct ColorScale
{
    double low = 0;
    double high = 1;
    bool diverging = false;

    static ColorScale of(double minimum, double maximum);
    QRgb color(double value) const; // NaN is transparent
    bool operator==(const ColorScale&) const = default;
};

} // namespace gb::ui
