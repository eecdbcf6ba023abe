// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <backend/base/result.h>
#include <rpc/keeper/hostconfig.h>
#include <rpc/keeper/tokens.h>

namespace gb::rpc {

// The parts of a request's head that the rules look at; absent fields are empty.
struct RequestHead
{
    std::string method;
    std::string target; // as sent
    std::string path; // of target
    std::string query;
    std::string host;
    int hosts = 0; // how many Host fields came
    bool hasOrigin = false;
    std::string origin;
    std::string authorization;
    std::string contentType;
    std::string contentEncoding;
    std::string accept;
    std::string ifNoneMatch;
    std::string mcpVersion; // MCP-Protocol-Version
    std::string mcpMethod; // Mcp-Method
    std::string mcpName; // Mcp-Name
    bool hasBody = false;
    bool local = false; // came over a UNIX socket, where Host means nothing

    void split(); // sets path and query
    bool accepts(std::string_view type) const;
};

struct Refusal
{
    int status = 400;
    std::string kind;
    std::string message;
};

// Decides from the head alone who is asking and whether to read the body at all.
class HttpRules
{
public:
    HttpRules(const HostConfig& config, const Tokens& tokens) : m_config(config), m_tokens(tokens) { }

    void setPort(int port) { m_port = port; }
    // Who may go on; a token in the path (clients of the original format) is cut off the path.
    tl::expected<TokenPtr, Refusal> admit(RequestHead& head) const;

private:
    bool hostAllowed(const RequestHead& head) const;
    bool originAllowed(std::string_view origin) const;

    const HostConfig& m_config;
    const Tokens& m_tokens;
    int m_port = 0;
};

// The value of a parameter of the query, decoded; empty when absent.
std::string queryValue(std::string_view query, std::string_view name);

} // namespace gb::rpc
