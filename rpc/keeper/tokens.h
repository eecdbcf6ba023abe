// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hostconfig.h"

namespace gb::rpc {

// Who may call, and what. Secrets are compared in constant time and never leave this room except to the file
// or the daemon that asked for them.
struct Token
{
    enum class Place { Header, Path }; // Path: for clients of the original format that cannot send a header

    std::string id; // short, in records
    std::string secret;
    Caller caller;
    Place place = Place::Header;
    std::vector<std::string> functions; // empty: all
    std::int64_t maxCalls = 0; // 0: no limit
    std::int64_t callsPerMinute = 0;
    std::int64_t calls = 0;
    std::deque<std::int64_t> recent; // times of the calls of the last minute

    bool allows(std::string_view fn) const;
};
using TokenPtr = std::shared_ptr<Token>;

class Tokens
{
public:
    TokenPtr mint(Caller caller, Token::Place place = Token::Place::Header);
    bool revoke(std::string_view id);
    TokenPtr find(std::string_view secret, Token::Place place) const;
    // Counts one call against the token's limits.
    Status charge(Token& token, std::string_view fn, std::int64_t nowMs) const;

private:
    std::vector<TokenPtr> m_tokens;
};

} // namespace gb::rpc
