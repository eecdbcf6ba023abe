// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace gb {

// A random UUID (version 7: sorts by time of creation) in lower-case text.
std::string newId();
bool isId(std::string_view text);

// Secret random text, 43 characters of base64url (256 bits).
std::string newToken();
// Compares in constant time.
bool sameSecret(std::string_view a, std::string_view b);

} // namespace gb
