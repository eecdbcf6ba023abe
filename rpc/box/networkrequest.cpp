// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "networkrequest.h"

#include <algorithm>

namespace gb::rpc {
namespace {

constexpr int plainPort = 80;

tl::unexpected<Error> bad(const std::string& message)
{
    return fail("network.request", message);
}

// Nothing that two readers could take for different lines or words.
bool isPlainText(std::string_view line)
{
    return std::ranges::all_of(line, [](char c) {
        constexpr unsigned char firstPrintable = 0x20;
        constexpr unsigned char lastAscii = 0x7e;
        const auto byte = static_cast<unsigned char>(c);
        return c == '\t' || (byte >= firstPrintable && byte <= lastAscii);
    });
}

std::string headerName(std::string_view line)
{
    std::string name(line.substr(0, line.find(':')));
    std::ranges::transform(name, name.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return name;
}

// Of this hop only, or said anew for the next one.
bool isForThisHop(const std::string& name)
{
    static constexpr std::array names{"connection", "keep-alive", "te", "trailer", "upgrade", "host"};
    return name.starts_with("proxy-") || std::ranges::find(names, name) != names.end();
}

Status readHeaders(NetworkRequest& head, std::string_view lines)
{
    while (!lines.empty()) {
        const auto end = lines.find("\r\n");
        const std::string_view line = lines.substr(0, end);
        lines = lines.substr(end + 2);
        const std::string name = headerName(line);
        if (line.find(':') == std::string_view::npos || name.empty() || name.find(' ') != std::string::npos
            || name.find('\t') != std::string::npos)
            return bad("A line of the request's head is no header.");
        if (name == "transfer-encoding"
            || (name == "content-length" && line.find_first_of("123456789") != std::string_view::npos))
            return bad("Only requests without a body are handed on.");
        if (!isForThisHop(name) && name != "content-length")
            head.headers.emplace_back(line);
    }
    return {};
}

} // namespace

Result<NetworkRequest> NetworkRequest::parse(std::string_view head)
{
    for (std::string_view rest = head; !rest.empty();) {
        const auto end = rest.find("\r\n");
        if (end == std::string_view::npos || !isPlainText(rest.substr(0, end)))
            return bad("The request's head has characters that do not belong there.");
        rest = rest.substr(end + 2);
    }
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    const std::string_view protocol = last == std::string_view::npos ? "" : line.substr(last + 1);
    if (first == std::string_view::npos || last <= first
        || (protocol != "HTTP/1.1" && protocol != "HTTP/1.0"))
        return bad("This is a proxy for HTTP/1.1.");
    const std::string_view where = line.substr(first + 1, last - first - 1);
    NetworkRequest parsed;
    parsed.method = line.substr(0, first);
    parsed.isTunnel = parsed.method == "CONNECT";
    if (!parsed.isTunnel && parsed.method != "GET" && parsed.method != "HEAD")
        return bad("This proxy takes CONNECT, and GET and HEAD for plain HTTP.");
    std::string_view authority = where;
    if (!parsed.isTunnel) {
        constexpr std::string_view scheme = "http://";
        if (!where.starts_with(scheme))
            return bad("This is a proxy: name the whole address.");
        authority = where.substr(scheme.size());
        const auto slash = authority.find_first_of("/?#");
        parsed.path = slash == std::string_view::npos ? "/" : authority.substr(slash);
        authority = authority.substr(0, slash);
        if (parsed.path.front() != '/')
            return bad("This is not an address this proxy understands.");
    }
    const auto target = NetworkTarget::parse(authority, parsed.isTunnel ? 0 : plainPort);
    if (!target)
        return bad("\"" + std::string(authority.substr(0, 200))
            + "\" is not a host and port as this proxy reads them.");
    parsed.target = *target;
    if (!parsed.isTunnel)
        GB_TRY(readHeaders(parsed, head.substr(line.size() + 2)));
    return parsed;
}

std::string NetworkRequest::handedOn(const std::string& proxyAuthorization, For next) const
{
    const std::string text = target.text();
    const std::string authority = target.port == plainPort ? text.substr(0, text.rfind(':')) : text;
    std::string out =
        method + " " + (next == For::Proxy ? "http://" + authority : std::string()) + path + " HTTP/1.1\r\n";
    out += "Host: " + authority + "\r\nConnection: close\r\n";
    if (next == For::Proxy && !proxyAuthorization.empty())
        out += "Proxy-Authorization: " + proxyAuthorization + "\r\n";
    for (const std::string& header : headers)
        out += header + "\r\n";
    return out + "\r\n";
}

} // namespace gb::rpc
