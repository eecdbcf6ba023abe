// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "console.h"

namespace gb::cli {

// How much of a long value a person is shown at once.
struct TextRoom
{
    std::size_t columns = 100;
    std::size_t lines = 40; // of each of arguments, output and result

    static TextRoom whole();
};

// A call's record and its result (JSON text, may be empty) as a person reads them. What does not fit is cut,
// and it says so and how to see it.
std::string callText(const Json& record, const std::string& result, const Console& console, TextRoom room);

} // namespace gb::cli
