// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>

#include <backend/base/json.h>

namespace gb::rpc {

// Where a host is and what opens it: the file NAME.host.json of a library or an MCP configuration.
struct HostAccess
{
    std::string url;
    std::string socket;
    std::string token;

    static Result<HostAccess> read(const std::filesystem::path& file);
};

// What the host serves.
Result<Json> fetchSchema(const HostAccess& access);

// MCP over standard streams for clients that want a command: messages come in as lines, go to /mcp of the
// host (which may be another one tomorrow, so the file is read for every message), and answers go out as
// lines. Returns at the end of the input, after what is under way had a moment to finish.
Status runMcpProxy(const std::filesystem::path& accessFile, int input, int output);

} // namespace gb::rpc
