// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include <QByteArray>
#include <QWidget>

#include <backend/base/result.h>

#include "matrixview.h"

namespace gb::ui {

// Results as files of other programs.

QByteArray csvOf(const std::vector<double>& vector);
QByteArray csvOf(const Matrix& matrix);

// numpy's file of one array, and a file of one named tensor. `dtype` is the host's word ("f32"); nothing
// comes back for one that the format has no word for.
Result<QByteArray> npyFile(
    const std::string& dtype, const std::vector<std::int64_t>& shape, const QByteArray& bytes);
Result<QByteArray> safetensorsFile(
    const std::string& dtype, const std::vector<std::int64_t>& shape, const QByteArray& bytes);
QByteArray npyOf(const std::vector<double>& vector);
QByteArray npyOf(const Matrix& matrix);

// What the widget shows, as SVG.
QByteArray svgOf(QWidget& widget);
QByteArray pngOf(QWidget& widget);

} // namespace gb::ui
