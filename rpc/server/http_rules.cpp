// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "http_rules.h"

#include <algorithm>

namespace gb::rpc {
namespace {

bool sameIgnoringCase(std::string_view a, std::string_view b)
{
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
        return lower(x) == lower(y);
    });
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

int hexDigit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool isJsonType(std::string_view type)
{
    type = trimmed(type.substr(0, type.find(';')));
    return sameIgnoringCase(type, "application/json")
        || sameIgnoringCase(type, "application/vnd.glovebox+json");
}

constexpr std::string_view compatPrefix = "/compat/";

} // namespace

void RequestHead::split()
{
    const std::string_view whole = target;
    const std::size_t mark = whole.find('?');
    path = whole.substr(0, mark);
    query = mark == std::string_view::npos ? std::string_view() : whole.substr(mark + 1);
}

bool RequestHead::accepts(std::string_view type) const
{
    std::string_view left = accept;
    while (!left.empty()) {
        const std::size_t comma = left.find(',');
        const std::string_view one = left.substr(0, comma);
        if (sameIgnoringCase(trimmed(one.substr(0, one.find(';'))), type))
            return true;
        left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
    }
    return false;
}

std::string queryValue(std::string_view query, std::string_view name)
{
    while (!query.empty()) {
        const std::size_t end = query.find('&');
        const std::string_view pair = query.substr(0, end);
        query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
        const std::size_t equals = pair.find('=');
        if (pair.substr(0, equals) != name || equals == std::string_view::npos)
            continue;
        const std::string_view value = pair.substr(equals + 1);
        std::string decoded;
        for (std::size_t i = 0; i < value.size(); ++i) {
            const bool escaped = value[i] == '%' && i + 2 < value.size() && hexDigit(value[i + 1]) >= 0
                && hexDigit(value[i + 2]) >= 0;
            decoded +=
                escaped ? static_cast<char>(hexDigit(value[i + 1]) * 16 + hexDigit(value[i + 2])) : value[i];
            i += escaped ? 2 : 0;
        }
        return decoded;
    }
    return {};
}

// A page in a browser can reach 127.0.0.1 by a name of its own (DNS rebinding); only our own names are
// served.
bool HttpRules::hostAllowed(const RequestHead& head) const
{
    if (head.hosts > 1)
        return false;
    if (head.local)
        return true;
    const std::string port = ":" + std::to_string(m_port);
    return sameIgnoringCase(head.host, "127.0.0.1" + port) || sameIgnoringCase(head.host, "localhost" + port)
        || sameIgnoringCase(head.host, "[::1]" + port);
}

bool HttpRules::originAllowed(std::string_view origin) const
{
    return std::find(m_config.origins.begin(), m_config.origins.end(), origin) != m_config.origins.end();
}

tl::expected<TokenPtr, Refusal> HttpRules::admit(RequestHead& head) const
{
    const auto refuse = [](int status, const char* kind, const char* message) {
        return tl::unexpected(Refusal{status, kind, message});
    };
    if (!hostAllowed(head))
        return refuse(403, "host", "this name of the host is not served");
    if (head.hasOrigin && !originAllowed(head.origin))
        return refuse(403, "origin", "pages of this origin may not call");
    if (head.target.size() > 4096 || head.target.empty() || head.target.front() != '/')
        return refuse(400, "target", "the target of the request is not a path");
    for (const char* name : {"token", "access_token", "authorization", "key", "api_key"}) {
        if (!queryValue(head.query, name).empty())
            return refuse(
                400, "token_in_query", "a token belongs into the Authorization header, not the address");
    }

    TokenPtr token;
    if (head.path.starts_with(compatPrefix)) {
        const std::string rest = head.path.substr(compatPrefix.size());
        const std::size_t slash = rest.find('/');
        token = m_tokens.find(std::string_view(rest).substr(0, slash), Token::Place::Path);
        head.path = slash == std::string::npos ? "/" : rest.substr(slash);
        if (token && head.path != "/")
            return refuse(404, "not_found", "only the original format is served here");
    } else if (sameIgnoringCase(std::string_view(head.authorization).substr(0, 7), "Bearer ")) {
        token = m_tokens.find(trimmed(std::string_view(head.authorization).substr(7)), Token::Place::Header);
    }
    if (!token)
        return refuse(401, "token", "send \"Authorization: Bearer TOKEN\" with the token of this host");

    if (!head.contentEncoding.empty() && !sameIgnoringCase(head.contentEncoding, "identity"))
        return refuse(415, "content_encoding", "a compressed body is not accepted");
    if (head.method == "POST" && head.hasBody && !isJsonType(head.contentType))
        return refuse(415, "content_type", "the body must be application/json");
    return token;
}

} // namespace gb::rpc
