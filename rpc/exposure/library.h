// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "function.h"

namespace gb::rpc {

// What is the same in every library: library_values.py and library_runtime.py, byte for byte.
std::string_view libraryRuntime();

// The name a function has in the library; another than its own where that is no identifier, a keyword, or
// taken by one of the library's own names.
struct LibraryName
{
    std::string function;
    std::string python;
};
std::vector<LibraryName> libraryNames(const std::vector<Function>& functions);

// The module: a docstring, the run-time part, and one `def` per function with literal defaults, a docstring
// and one call. Nothing of the schema becomes code.
std::string libraryText(
    const std::string& name, const std::string& doc, const std::vector<Function>& functions);

// A module name like the wanted one.
std::string libraryModule(const std::string& wanted);

} // namespace gb::rpc
