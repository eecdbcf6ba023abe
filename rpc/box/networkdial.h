// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <backend/base/fd.h>

#include "networkrules.h"

namespace gb::rpc {

// A name's addresses; asked exactly once for each connection.
using NetworkResolver = std::function<Result<std::vector<NetworkAddress>>(const std::string& host)>;
Result<std::vector<NetworkAddress>> resolveName(const std::string& host);

// How the request is put: a tunnel, or a plain request whose first line names the whole address for a proxy.
enum class NetworkUse { Tunnel, PlainRequest };

struct Dialled
{
    UniqueFd socket;
    bool isProxy = false; // the other end is the person's own proxy, and no tunnel was asked of it
};

// Connects to the very address that was checked. Blocks, at most about half a minute. "network.refused" is an
// address that the rules do not allow, "network.unreachable" everything else.
Result<Dialled> dial(const NetworkTarget& target, const NetworkRule& rule, const NetworkRules& rules,
    NetworkUse use, const NetworkResolver& resolver);

} // namespace gb::rpc
