// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace gb {

std::int64_t wallMs(); // since 1970, UTC
std::int64_t monotonicNs();
std::string isoUtc(std::int64_t wallMilliseconds); // 2026-01-31T12:34:56.789Z

} // namespace gb
