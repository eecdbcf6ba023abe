// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <backend/base/json.h>

#include "endpoint.h"

namespace gb::rpc {

inline constexpr std::string_view newestMcp = "2026-07-28";
inline constexpr std::string_view newestSessionMcp = "2025-11-25"; // the last one that begins with initialize

struct McpError
{
    int status = 200; // of HTTP
    int code = -32603;
    std::string message;
    Json data;
};

bool isKnownMcpVersion(std::string_view version);
Json knownMcpVersions();

// Which protocol a message speaks, after checking that the header fields say the same as the message.
struct McpDialect
{
    bool stateless = false; // 2026-07-28: no session, closing cancels, errors have statuses of their own
    std::string version;
};
tl::expected<McpDialect, McpError> readDialect(const McpRequest& request, const Json& message);

// A field that is no plain ASCII travels as =?base64?…?=.
std::string decodeHeaderValue(const std::string& value);

std::string mcpText(const Json& json);
// {"jsonrpc","id","result"}; the result is JSON text.
std::string mcpResult(const Json& id, std::string_view result);
std::string mcpFailure(const Json& id, const McpError& error);
std::string mcpEvent(std::string_view message);

} // namespace gb::rpc
