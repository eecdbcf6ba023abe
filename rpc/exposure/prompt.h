// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "function.h"

namespace gb::rpc {

// Markdown about the functions: signature, what it says, a table of arguments, the shape of the result and an
// example of a call. `prefix` stands before names in examples (`model_tools.`).
std::string promptText(const std::string& name, const std::string& doc,
    const std::vector<Function>& functions, const std::string& prefix);
// How somebody without the library calls these functions: one HTTP request each. `headerFile` opens the host.
std::string callingText(const std::vector<Function>& functions, const std::string& url,
    const std::string& socket, const std::string& headerFile);
std::string functionText(const Function& function, const std::string& python, const std::string& prefix);

// The shape of what a JSON schema allows, for people: `{"embedding": [number], "layer": integer}`.
std::string shapeOf(const Json& schema);

} // namespace gb::rpc
