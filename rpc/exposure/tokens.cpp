// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tokens.h"

#include "utf8.h"

namespace gb::rpc {

std::size_t estimateTokens(std::string_view text)
{
    enum class Kind { Blank, Letter, Digit, Sign };
    std::size_t tokens = 0;
    std::size_t run = 0;
    Kind before = Kind::Blank;
    while (!text.empty()) {
        const char32_t c = takeCharacter(text);
        const bool letter = (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
        const Kind kind = c == U' ' || c == U'\n' ? Kind::Blank
            : letter                              ? Kind::Letter
            : c >= U'0' && c <= U'9'              ? Kind::Digit
                                                  : Kind::Sign;
        const std::size_t most = kind == Kind::Letter ? 8 : kind == Kind::Digit ? 3 : 1;
        run = kind == before ? run + 1 : 1;
        if (kind != Kind::Blank && (run - 1) % most == 0)
            ++tokens;
        before = kind;
    }
    return tokens;
}

} // namespace gb::rpc
