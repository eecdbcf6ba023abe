// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace gb {

// As one word of a command to copy: in quotes where a shell would read anything into it.
std::string shellWord(std::string_view text);

} // namespace gb
