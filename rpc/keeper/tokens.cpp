// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tokens.h"

#include <algorithm>

#include <backend/base/ids.h>

namespace gb::rpc {

bool Token::allows(std::string_view fn) const
{
    return functions.empty() || std::find(functions.begin(), functions.end(), fn) != functions.end();
}

TokenPtr Tokens::mint(Caller caller, Token::Place place)
{
    auto token = std::make_shared<Token>();
    token->id = newToken().substr(0, 8);
    token->secret = newToken();
    token->caller = std::move(caller);
    token->caller.token = token->id;
    token->place = place;
    m_tokens.push_back(token);
    return token;
}

bool Tokens::revoke(std::string_view id)
{
    return std::erase_if(m_tokens, [id](const TokenPtr& token) { return token->id == id; }) > 0;
}

TokenPtr Tokens::find(std::string_view secret, Token::Place place) const
{
    TokenPtr found;
    // Every token is compared, so that the time says nothing about which one nearly matched.
    for (const TokenPtr& token : m_tokens) {
        if (sameSecret(token->secret, secret) && token->place == place)
            found = token;
    }
    return found;
}

Status Tokens::charge(Token& token, std::string_view fn, std::int64_t nowMs) const
{
    if (!token.allows(fn))
        return fail("not_allowed", "this token may not call \"" + std::string(fn.substr(0, 100)) + "\"");
    if (token.maxCalls > 0 && token.calls >= token.maxCalls)
        return fail("not_allowed", "this token has used its " + std::to_string(token.maxCalls) + " calls");
    if (token.callsPerMinute > 0) {
        while (!token.recent.empty() && token.recent.front() <= nowMs - 60'000)
            token.recent.pop_front();
        if (static_cast<std::int64_t>(token.recent.size()) >= token.callsPerMinute)
            return fail(
                "busy", "this token may make " + std::to_string(token.callsPerMinute) + " calls a minute");
        token.recent.push_back(nowMs);
    }
    ++token.calls;
    return {};
}

} // namespace gb::rpc
