// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/experiments/trust.h>
#include <backend/sandbox/sandboxprovider.h>

#include "reply.h"

namespace gb {
class SecretStore;
}

namespace gb::service {

// What a client asks for, put together with what is known of it here.
struct SandboxOrder
{
    SandboxRequest request;
    std::vector<Reach> reaches;
    std::string experiment; // its UUID; empty when no experiment was named
    bool needsTrust = false;
};

// Secrets by name: those sent along, the client's environment, the experiment's .env, the store.
Result<SandboxOrder> makeSandboxOrder(const Json& spec, const std::string& experimentFolder,
    const Json& secrets, const Caller& caller, const SecretStore* store, const TrustList& trust);

// NAME=value lines; quotes around a value, "export" before a name and comments are understood.
std::map<std::string, std::string> parseDotEnv(const std::string& text);

} // namespace gb::service
