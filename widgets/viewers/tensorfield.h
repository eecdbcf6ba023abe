// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <QString>

#include <backend/api/answer.h>

namespace gb::ui {

// Asks the host that made a result for a part of one of its tensors: {handle, what, slice?, tile?}. The
// viewers hold handles only, so a tensor of 400 MB shows without moving.
using TensorFetch = std::function<void(Json wanted, api::AnswerHandler handler)>;

// A tensor or an image somewhere in a result.
struct HandleField
{
    QString path; // $.layers[2]
    QString handle;
    QString dtype;
    std::vector<std::int64_t> shape;
    Json stats;
    double bytes = 0;
};

// Those of this kind ("tensor", "image") near the top of a result.
std::vector<HandleField> findHandles(std::string_view json, std::string_view kind);

QString shapeText(const std::vector<std::int64_t>& shape); // 12 × 64 × 64
QString tensorStatistics(const HandleField& tensor, const Json& stats);

} // namespace gb::ui
