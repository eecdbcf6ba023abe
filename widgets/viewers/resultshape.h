// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "jsonslice.h"
#include "matrixview.h"
#include "tokenview.h"

namespace gb::ui {

// What a result looks like: by its own word ({"kind": "matrix", "data": …}, {"kind": "tokens", …}), otherwise
// by its shape. With `probe` only the beginning is read and what comes back is not complete.
std::optional<std::vector<double>> findVector(std::string_view json, bool probe);
std::optional<Matrix> findMatrix(std::string_view json, bool probe);
std::optional<std::vector<Token>> findTokens(std::string_view json, bool probe);
QString scoreName(std::string_view json); // what {"kind": "tokens", "scores": …} calls them
// A string, or what {"kind": "text" | "markdown" | "html", "text": …} says.
std::optional<JsonSlice> findText(std::string_view json);
bool looksLikeTable(std::string_view json);

} // namespace gb::ui
