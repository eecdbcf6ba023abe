// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include <backend/base/json.h>

namespace gb::rpc {

// An address of either family, with the port it is connected at.
struct NetworkAddress
{
    int family = AF_INET;
    std::array<unsigned char, 16> bytes{}; // an IPv4 address has the first four

    static std::optional<NetworkAddress> parse(const std::string& text); // only the usual spelling
    std::string text() const;
};

struct NetworkRange
{
    NetworkAddress first;
    unsigned bits = 0;

    static std::optional<NetworkRange> parse(std::string_view text); // "10.0.0.0/8"
    bool contains(const NetworkAddress& address) const;
};

struct NetworkRule
{
    std::string host; // in lower case; "*.example.org" means its subdomains
    int port = 443;
    bool inPrivate = false; // it may be this machine, or one of a private network
};

struct NetworkTarget
{
    std::string host; // in lower case
    int port = 0;

    // "host:port" or "[address]:port". Everything that could mean another host to somebody else is refused:
    // user names, a trailing dot, addresses in unusual spellings, control characters.
    static std::optional<NetworkTarget> parse(std::string_view authority, int usualPort = 0);
    std::string text() const;
};

// The person's own way out, when it leads through a proxy.
struct UpstreamProxy
{
    enum class Kind { Http, Socks5 };

    Kind kind = Kind::Http;
    std::string host;
    int port = 0;
    std::string credentials; // "user:password", or nothing
    std::string refusal; // why it cannot be used, and then nothing that would need it is reached

    std::string authorization() const; // the value of a header, or nothing
};

// What a sandbox may reach.
struct NetworkRules
{
    std::vector<NetworkRule> hosts;
    std::vector<NetworkRange> ranges; // where listed hosts may lie beside the public addresses
    std::optional<UpstreamProxy> upstream;
    std::vector<std::string> direct; // hosts and suffixes that do not go through it

    static Result<NetworkRules> fromJson(const Json& json);
    const NetworkRule* find(const NetworkTarget& target) const;
    bool mayConnect(const NetworkRule& rule, const NetworkAddress& address) const;
    bool goesUpstream(const std::string& host) const;
};

} // namespace gb::rpc
