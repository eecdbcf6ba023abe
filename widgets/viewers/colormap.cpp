// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "colormap.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gb::ui {
namespace {

constexpr std::array<QRgb, 9> viridis = {0xFF440154, 0xFF472D7B, 0xFF3B528B, 0xFF2C728E, 0xFF21918C,
    0xFF28AE80, 0xFF5EC962, 0xFFADDC30, 0xFFFDE725};
constexpr std::array<QRgb, 9> blueRed = {0xFF2166AC, 0xFF4393C3, 0xFF92C5DE, 0xFFD1E5F0, 0xFFF7F7F7,
    0xFFFDDBC7, 0xFFF4A582, 0xFFD6604D, 0xFFB2182B};

QRgb between(const std::array<QRgb, 9>& anchors, double share)
{
    const auto at = std::clamp(share, 0.0, 1.0) * 8;
    const auto i = std::min<std::size_t>(static_cast<std::size_t>(at), 7);
    const auto f = at - static_cast<double>(i);
    const auto mix = [f](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * f)); };
    const auto a = anchors.at(i);
    const auto b = anchors.at(i + 1);
    return qRgb(mix(qRed(a), qRed(b)), mix(qGreen(a), qGreen(b)), mix(qBlue(a), qBlue(b)));
}

} // namespace

QRgb sequentialColor(double share)
{
    return between(viridis, share);
}

QRgb divergingColor(double share)
{
    return between(blueRed, (share + 1) / 2);
}

ColorScale ColorScale::of(double minimum, double maximum)
{
    ColorScale scale{minimum, maximum, minimum < 0 && maximum > 0};
    if (scale.diverging) {
        scale.high = std::max(-minimum, maximum);
        scale.low = -scale.high;
    } else if (minimum == maximum) {
        scale.high = minimum + 1;
    }
    return scale;
}

QRgb ColorScale::color(double value) const
{
    if (std::isnan(value))
        return 0;
    const auto share = (value - low) / (high - low);
    return diverging ? divergingColor(2 * share - 1) : sequentialColor(share);
}

} // namespace gb::ui
