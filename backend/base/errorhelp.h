// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gb {

// One row of a table of the help pages: | `code`, `code` | what to do |
struct ErrorHelp
{
    std::vector<std::string> codes;
    std::string text; // Markdown
};

std::vector<ErrorHelp> errorHelpIn(std::string_view page);

} // namespace gb
