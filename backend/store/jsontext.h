// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace gb {

// One complete, valid JSON value and nothing else.
bool isJsonText(std::string_view text);

// The text as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
std::string jsonString(std::string_view text);

// At most `limit` bytes, never half a character.
std::string_view cutText(std::string_view text, std::size_t limit);

// JSON text with the escapes inside strings undone, for words to be found in it.
std::string readableJson(std::string_view json, std::size_t limit);

} // namespace gb
