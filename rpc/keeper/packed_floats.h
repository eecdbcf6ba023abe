// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gb::rpc {

// For clients that decode bytes faster than digits: every long list of fractional numbers in a valid JSON
// text becomes {"$gb":"floats","v":"…"}, its doubles little-endian in base64. Exact, and a list with a whole
// number in it stays what it is, because Python tells 1 from 1.0. Nothing when there is no such list.
std::optional<std::string> packFloats(std::string_view json);

} // namespace gb::rpc
