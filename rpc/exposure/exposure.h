// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "skill.h"

namespace gb::rpc {

enum class ExposeAs { Library, Mcp, Prompt, Skill };
std::optional<ExposeAs> exposeAs(std::string_view text);
std::string_view nameOf(ExposeAs as);

struct ExposeSpec
{
    ExposeAs as = ExposeAs::Library;
    std::string name; // empty: the interface's
    std::vector<std::string> functions; // empty: all
    // Where the host is and what opens it; without a token no access file is written.
    std::string url;
    std::string socket;
    std::string token;
};

struct Exposure
{
    ExposeAs as = ExposeAs::Library;
    std::string name;
    std::vector<TextFile> files; // relative to the folder the person names
    std::string text; // the prompt, or the MCP configuration
    std::vector<std::string> functions;
    std::size_t tokens = 0; // what it costs an agent's context, estimated

    Json toJson() const;
};

// One schema, four forms.
Result<Exposure> expose(const Json& schema, const ExposeSpec& spec);

// Writes the files below the folder; what holds a token is readable by its owner only.
Status writeExposure(const Exposure& exposure, const std::filesystem::path& folder);

} // namespace gb::rpc
