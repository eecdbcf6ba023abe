// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "shellword.h"

#include <algorithm>

namespace gb {

std::string shellWord(std::string_view text)
{
    constexpr std::string_view plain = "_@%+=:,./-";
    const bool harmless = !text.empty() && std::ranges::all_of(text, [plain](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
            || plain.find(c) != std::string_view::npos;
    });
    if (harmless)
        return std::string(text);
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

} // namespace gb
