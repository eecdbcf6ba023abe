// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace gb::rpc {

// Takes the next character off the front. Bytes that are not UTF-8 come out one by one as U+FFFD.
char32_t takeCharacter(std::string_view& text);
void appendCharacter(std::string& out, char32_t character);

// Controls, separators, marks that reorder or hide text, private use, not assigned as characters.
bool isInvisible(char32_t character);
// Letters of scripts in everyday use that Unicode normalisation leaves alone, so that Python reads them back.
bool isStableLetter(char32_t character);

} // namespace gb::rpc
