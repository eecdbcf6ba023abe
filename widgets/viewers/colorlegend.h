// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QRect>

#include "colormap.h"

class QPainter;

namespace gb::ui {

// Values beyond an end have its colour; the legend says so with ≤ and ≥.
struct BeyondScale
{
    bool below = false;
    bool above = false;
};

// The colours of a scale as a bar, with its ends and its middle as numbers beside it (upright) or below it.
void paintColorLegend(QPainter& painter, const QRect& bar, Qt::Orientation way, const ColorScale& scale,
    BeyondScale beyond = {});

// What the numbers below a lying bar take of height, with it.
int lyingLegendHeight(int barHeight);

} // namespace gb::ui
