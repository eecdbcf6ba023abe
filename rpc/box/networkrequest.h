// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "networkrules.h"

namespace gb::rpc {

// What a program in a sandbox asks its proxy for.
struct NetworkRequest
{
    enum class For { Server, Proxy };

    NetworkTarget target;
    bool isTunnel = false; // CONNECT; else a plain request without a body
    std::string method;
    std::string path;
    std::vector<std::string> headers; // those that are handed on

    // The lines up to, and without, the empty one. Errors are sentences for whoever asked.
    static Result<NetworkRequest> parse(std::string_view head);
    // A plain request in the words of whoever gets it next, who closes behind the answer.
    std::string handedOn(const std::string& proxyAuthorization, For next) const;
};

} // namespace gb::rpc
