// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>

#include "json.h"

namespace gb {

// The short way of parseJson(): what is good, within the limits and not too large. Nothing where anything is
// in doubt; the long way then decides and knows what to say.
std::optional<Json> parseJsonQuickly(std::string_view text, JsonLimits limits);

} // namespace gb
