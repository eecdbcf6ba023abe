// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

namespace gb::rpc {

// How many tokens a model will count, roughly: words of up to eight letters, groups of up to three digits and
// single other signs are one each, blanks none, characters outside ASCII one each. No vocabulary is bundled,
// and models differ among themselves by about as much as this is off (a fifth).
std::size_t estimateTokens(std::string_view text);

} // namespace gb::rpc
