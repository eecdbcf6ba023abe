// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace gb {

// Argument order matters to people, so objects keep theirs.
using Json = nlohmann::ordered_json;

// A code (stable, has a help page), a sentence in English for logs and the command line, and data from which
// the window makes its own translated sentence.
struct Error
{
    std::string code;
    std::string message;
    Json data = Json::object();

    Json toJson() const;
    static Error fromJson(const Json& json);
};

} // namespace gb
