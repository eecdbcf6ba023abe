// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "message.h"

#include <algorithm>
#include <iterator>

namespace gb::rpc {
namespace {

constexpr std::string_view mcpVersions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"};
constexpr const char* versionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

tl::unexpected<McpError> refusedHeader(const std::string& message)
{
    return tl::unexpected(McpError{400, -32020, message, {}});
}

tl::unexpected<McpError> refusedVersion(const std::string& version)
{
    return tl::unexpected(McpError{400, -32022, "the protocol version is not supported",
        Json{{"supported", knownMcpVersions()}, {"requested", version}}});
}

// The newest protocol lets proxies decide by header fields, so these must not say something else.
std::optional<McpError> checkFields(const McpRequest& request, const Json& message)
{
    const std::string method = stringOr(message, "method");
    if (request.method.empty() || decodeHeaderValue(request.method) != method)
        return McpError{400, -32020, "the header field Mcp-Method must be the method of the message", {}};
    if (method != "tools/call")
        return std::nullopt;
    if (request.name.empty()
        || decodeHeaderValue(request.name) != stringOr(objectOr(message, "params"), "name"))
        return McpError{400, -32020, "the header field Mcp-Name must be the name of the tool", {}};
    return std::nullopt;
}

int base64Value(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A'
        : c >= 'a' && c <= 'z'  ? c - 'a' + 26
        : c >= '0' && c <= '9'  ? c - '0' + 52
        : c == '+'              ? 62
        : c == '/'              ? 63
                                : -1;
}

} // namespace

bool isKnownMcpVersion(std::string_view version)
{
    return std::find(std::begin(mcpVersions), std::end(mcpVersions), version) != std::end(mcpVersions);
}

Json knownMcpVersions()
{
    Json list = Json::array();
    for (const std::string_view version : mcpVersions)
        list.push_back(version);
    return list;
}

std::string decodeHeaderValue(const std::string& value)
{
    constexpr std::string_view start = "=?base64?";
    if (!value.starts_with(start) || !value.ends_with("?=") || value.size() < start.size() + 2)
        return value;
    std::string out;
    unsigned bits = 0;
    int count = 0;
    for (const char c : std::string_view(value).substr(start.size(), value.size() - start.size() - 2)) {
        const int six = base64Value(c);
        if (six < 0)
            break;
        bits = (bits << 6U | static_cast<unsigned>(six)) & 0xFFFFFFU;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
        }
    }
    return out;
}

tl::expected<McpDialect, McpError> readDialect(const McpRequest& request, const Json& message)
{
    const std::string& field = request.protocolVersion;
    const std::string method = stringOr(message, "method");
    const std::string inside = stringOr(objectOr(objectOr(message, "params"), "_meta"), versionKey);
    if (method == "initialize" && inside.empty() && field != newestMcp)
        return McpDialect{false, std::string(newestSessionMcp)};
    if (!inside.empty() && field.empty())
        return refusedHeader("the header field MCP-Protocol-Version is missing");
    if (!inside.empty() && inside != field)
        return refusedHeader("the header field MCP-Protocol-Version must be the version in the message");
    if (!field.empty() && !isKnownMcpVersion(field))
        return refusedVersion(field);
    if (field != newestMcp)
        return McpDialect{false, field.empty() ? "2025-03-26" : field};
    const Json meta = objectOr(objectOr(message, "params"), "_meta");
    for (const char* key : {versionKey, capabilitiesKey}) {
        if (message.contains("id") && !meta.contains(key))
            return tl::unexpected(McpError{400, -32602, std::string("params._meta lacks ") + key, {}});
    }
    if (auto refused = checkFields(request, message))
        return tl::unexpected(std::move(*refused));
    return McpDialect{true, field};
}

std::string mcpText(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string mcpResult(const Json& id, std::string_view result)
{
    return R"({"jsonrpc":"2.0","id":)" + mcpText(id) + ",\"result\":" + std::string(result) + "}";
}

std::string mcpFailure(const Json& id, const McpError& error)
{
    Json body{{"code", error.code}, {"message", error.message}};
    if (!error.data.is_null())
        body["data"] = error.data;
    return mcpText(Json{{"jsonrpc", "2.0"}, {"id", id}, {"error", body}});
}

std::string mcpEvent(std::string_view message)
{
    return "event: message\ndata: " + std::string(message) + "\n\n";
}

} // namespace gb::rpc
