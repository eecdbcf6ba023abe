// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "proxy.h"

namespace gb::rpc {

// One POST to /mcp; every message of the answer, be it whole or a stream of events, goes to `take` as it
// comes. Ends early, and closes the connection, once `stop` is set. The error's code is mcp.http when the
// host answered with something that is no message.
Status postMessage(const HostAccess& access, const std::string& body, const std::vector<std::string>& headers,
    const std::atomic<bool>& stop, const std::function<void(std::string)>& take);

} // namespace gb::rpc
