// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "networkrules.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>

#include <rpc/keeper/values.h>

namespace gb::rpc {
namespace {

constexpr int httpsPort = 443;
constexpr unsigned byteBits = 8;
constexpr unsigned v4Bits = 32;
constexpr unsigned v6Bits = 128;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isNameCharacter(char c)
{
    return (c >= 'a' && c <= 'z') || isDigit(c) || c == '-' || c == '_' || c == '.';
}

std::string lowered(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(
        out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

std::optional<int> portNumber(std::string_view text)
{
    constexpr int most = 65535;
    int port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > most)
        return std::nullopt;
    return port;
}

// The C library takes "0x7f000001", "2130706433" and "127.1" for addresses: whatever ends like a number is
// one only in the spelling that everybody reads alike.
bool isPlainHost(const std::string& host)
{
    constexpr std::size_t longest = 253;
    if (NetworkAddress::parse(host))
        return true;
    if (host.empty() || host.size() > longest || !std::ranges::all_of(host, isNameCharacter)
        || host.front() == '.' || host.back() == '.' || host.find("..") != std::string::npos)
        return false;
    const std::string last = host.substr(host.rfind('.') == std::string::npos ? 0 : host.rfind('.') + 1);
    return !isDigit(last.front());
}

std::vector<NetworkRange> rangesOf(std::initializer_list<const char*> texts)
{
    std::vector<NetworkRange> all;
    for (const char* text : texts) {
        if (const auto range = NetworkRange::parse(text))
            all.push_back(*range);
    }
    return all;
}

bool isIn(const std::vector<NetworkRange>& all, const NetworkAddress& address)
{
    return std::ranges::any_of(all, [&](const NetworkRange& range) { return range.contains(address); });
}

// What the registries of special addresses call private, or this machine; and what they keep for examples and
// measurements, which private networks use as well.
bool isPrivate(const NetworkAddress& address)
{
    static const auto known =
        rangesOf({"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8",
            "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "fc00::/7", "::1/128"});
    return isIn(known, address);
}

// IPv6 by what is given out, so that every mapping and translation of IPv4 is out.
bool isPublic(const NetworkAddress& address)
{
    static const auto special = rangesOf({"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8",
        "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "2001::/23", "2001:db8::/32",
        "2002::/16", "3fff::/20"});
    static const auto given = rangesOf({"0.0.0.0/0", "2000::/3"});
    return isIn(given, address) && !isIn(special, address);
}

bool isSubdomain(const std::string& host, std::string_view suffix)
{
    return host.size() > suffix.size() && host.ends_with(suffix)
        && host[host.size() - suffix.size() - 1] == '.';
}

Result<UpstreamProxy> readUpstream(const Json& json)
{
    UpstreamProxy upstream;
    upstream.host = stringOr(json, "host");
    upstream.port = static_cast<int>(integerOr(json, "port"));
    upstream.credentials = stringOr(json, "credentials");
    upstream.refusal = stringOr(json, "refused");
    if (!upstream.refusal.empty())
        return upstream;
    if (const std::string kind = stringOr(json, "kind", "http"); kind == "socks5")
        upstream.kind = UpstreamProxy::Kind::Socks5;
    else if (kind != "http")
        return fail("config.network", "the upstream proxy is of no kind that is known here");
    if (upstream.host.empty() || upstream.port < 1)
        return fail("config.network", "the upstream proxy needs a host and a port");
    return upstream;
}

} // namespace

std::optional<NetworkAddress> NetworkAddress::parse(const std::string& text)
{
    NetworkAddress address;
    if (::inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1)
        return address;
    address.family = AF_INET6;
    if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1)
        return address;
    return std::nullopt;
}

std::string NetworkAddress::text() const
{
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    return ::inet_ntop(family, bytes.data(), buffer.data(), buffer.size()) ? buffer.data() : "";
}

std::optional<NetworkRange> NetworkRange::parse(std::string_view text)
{
    const auto slash = text.find('/');
    if (slash == std::string_view::npos)
        return std::nullopt;
    const auto first = NetworkAddress::parse(std::string(text.substr(0, slash)));
    const std::string_view rest = text.substr(slash + 1);
    unsigned bits = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bits);
    if (!first || error != std::errc() || end != rest.data() + rest.size()
        || bits > (first->family == AF_INET ? v4Bits : v6Bits))
        return std::nullopt;
    return NetworkRange{*first, bits};
}

bool NetworkRange::contains(const NetworkAddress& address) const
{
    if (address.family != first.family)
        return false;
    const std::size_t whole = bits / byteBits;
    if (std::memcmp(address.bytes.data(), first.bytes.data(), whole) != 0)
        return false;
    const unsigned rest = bits % byteBits;
    if (rest == 0)
        return true;
    const unsigned difference =
        static_cast<unsigned>(address.bytes.at(whole)) ^ static_cast<unsigned>(first.bytes.at(whole));
    return (difference >> (byteBits - rest)) == 0;
}

std::optional<NetworkTarget> NetworkTarget::parse(std::string_view authority, int usualPort)
{
    NetworkTarget target;
    std::string_view port;
    if (authority.starts_with('[')) {
        const auto close = authority.find(']');
        if (close == std::string_view::npos)
            return std::nullopt;
        const auto address = NetworkAddress::parse(std::string(authority.substr(1, close - 1)));
        if (!address || address->family != AF_INET6)
            return std::nullopt;
        target.host = address->text();
        port = authority.substr(close + 1);
    } else {
        const auto colon = authority.find(':');
        target.host = lowered(authority.substr(0, colon));
        if (!isPlainHost(target.host) || target.host.find(':') != std::string::npos)
            return std::nullopt;
        port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
    }
    if (port.empty() && usualPort > 0) {
        target.port = usualPort;
        return target;
    }
    const auto number = port.starts_with(':') ? portNumber(port.substr(1)) : std::nullopt;
    if (!number)
        return std::nullopt;
    target.port = *number;
    return target;
}

std::string NetworkTarget::text() const
{
    const bool isV6 = host.find(':') != std::string::npos;
    return (isV6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string UpstreamProxy::authorization() const
{
    return credentials.empty() ? "" : "Basic " + base64(credentials);
}

Result<NetworkRules> NetworkRules::fromJson(const Json& json)
{
    NetworkRules rules;
    const Json hosts = json.value("hosts", Json::array());
    for (const Json& item : hosts) {
        const std::string host = lowered(stringOr(item, "host"));
        const auto port = integerOr(item, "port", httpsPort);
        if (const auto range = NetworkRange::parse(host)) {
            rules.ranges.push_back(*range);
            continue;
        }
        const std::string name = host.starts_with("*.") ? host.substr(2) : host;
        if (!isPlainHost(name) || !portNumber(std::to_string(port)))
            return fail("config.network", "\"" + host + "\" is not a host a sandbox can be allowed");
        const auto address = NetworkAddress::parse(name);
        rules.hosts.push_back({address ? address->text() : host, static_cast<int>(port),
            boolOr(item, "private") || address.has_value()});
    }
    if (const auto upstream = json.find("upstream"); upstream != json.end() && upstream->is_object()) {
        auto proxy = readUpstream(*upstream);
        if (!proxy)
            return fail(proxy.error());
        rules.upstream = std::move(*proxy);
    }
    for (const Json& item : json.value("direct", Json::array())) {
        if (item.is_string())
            rules.direct.push_back(lowered(item.get<std::string>()));
    }
    return rules;
}

const NetworkRule* NetworkRules::find(const NetworkTarget& target) const
{
    const bool isAddress = NetworkAddress::parse(target.host).has_value();
    for (const NetworkRule& rule : hosts) {
        const bool isHost = rule.host.starts_with("*.")
            ? !isAddress && isSubdomain(target.host, std::string_view(rule.host).substr(2))
            : rule.host == target.host;
        if (isHost && rule.port == target.port)
            return &rule;
    }
    return nullptr;
}

bool NetworkRules::mayConnect(const NetworkRule& rule, const NetworkAddress& address) const
{
    // An address on the list was named for itself.
    return rule.host == address.text() || isPublic(address) || isIn(ranges, address)
        || (rule.inPrivate && isPrivate(address));
}

bool NetworkRules::goesUpstream(const std::string& host) const
{
    if (!upstream)
        return false;
    return std::ranges::none_of(direct, [&](const std::string& entry) {
        const std::string_view name = entry.starts_with('.') ? std::string_view(entry).substr(1) : entry;
        return entry == "*" || host == name || isSubdomain(host, name);
    });
}

} // namespace gb::rpc
