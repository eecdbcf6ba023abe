// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "function.h"

namespace gb::rpc {

// Functions as MCP tools. A tool takes one object and gives one object, so arguments by place and results
// that are no objects are fitted to that here, in one place for listing and calling.
struct Tool
{
    std::string name; // letters, digits, `_`, `-`, `.`; at most 64
    Function function;
    Json description; // as tools/list wants it
    bool wrapped = false; // the result stands in {"result": …}
};
std::vector<Tool> toolsOf(std::vector<Function> functions);

// {"args":[…],"kwargs":{…}} for the host from the object a tool was called with. Values are passed on as
// text.
Result<std::string> toolArguments(const Tool& tool, std::string_view arguments);

} // namespace gb::rpc
