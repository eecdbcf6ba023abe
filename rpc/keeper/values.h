// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tensor.h"

namespace gb::rpc {

// Work on results in record form, as text: nothing is parsed that need not be. The text must have passed
// checkJson and hold no spaces between a "$gb" key and its brace that the worker did not put there.

using TensorLookup = std::function<TensorPtr(const std::string& handle)>;

// What a plain JSON client gets. unsaid counts what JSON has no form for and became null.
std::string plainForm(std::string_view record, const TensorLookup& lookup, std::size_t& unsaid);

// Adds "stats" to the tensors of a result for which the lookup has something to say.
using StatsLookup = std::function<Json(const std::string& handle)>;
std::string withStats(std::string_view record, const StatsLookup& stats);

std::string base64(std::string_view bytes);
void appendBase64(std::string& out, std::string_view bytes);

} // namespace gb::rpc
