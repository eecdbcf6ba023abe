// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "errorhelp.h"

#include <algorithm>

namespace gb {
namespace {

std::vector<std::string> codesIn(std::string_view cell)
{
    std::vector<std::string> codes;
    for (std::size_t open = cell.find('`'); open != std::string_view::npos; open = cell.find('`')) {
        cell.remove_prefix(open + 1);
        const std::size_t close = cell.find('`');
        if (close == std::string_view::npos)
            break;
        codes.emplace_back(cell.substr(0, close));
        cell.remove_prefix(close + 1);
    }
    return codes;
}

} // namespace

std::vector<ErrorHelp> errorHelpIn(std::string_view page)
{
    std::vector<ErrorHelp> rows;
    while (!page.empty()) {
        const std::string_view line = page.substr(0, page.find('\n'));
        page.remove_prefix(std::min(page.size(), line.size() + 1));
        const std::size_t middle = line.find(" | ");
        if (!line.starts_with("| `") || !line.ends_with(" |") || middle == std::string_view::npos
            || middle + 5 > line.size())
            continue;
        const std::string_view text = line.substr(middle + 3, line.size() - middle - 5);
        rows.push_back({codesIn(line.substr(0, middle)), std::string(text)});
    }
    return rows;
}

} // namespace gb
