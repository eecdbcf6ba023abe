// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <backend/domain/sandboxspec.h>

namespace gb {

enum class SandboxState { Planned, Building, Starting, Ready, Stopping, Stopped, Failed };

std::string_view toString(SandboxState state);
std::optional<SandboxState> sandboxStateFrom(std::string_view text);
// A stop may come at any time; nothing becomes alive again.
bool mayFollow(SandboxState from, SandboxState to);

// What is known about a sandbox, from the moment somebody wanted it.
struct SandboxRecord
{
    std::string id;
    std::string nonce; // in the tags of what was created, so that only our own is taken for it
    std::string experiment;
    SandboxSpec spec;
    SandboxState state = SandboxState::Planned;
    std::string reason; // a code, "lost", "timeout", …
    std::int64_t createdAt = 0;
    std::int64_t since = 0;
    Json handle = Json::object(); // how the provider finds it again
    Json details = Json::object(); // job, steps, warnings, error, how it ended: for people
    int stopAttempts = 0;

    bool isAlive() const; // something of it may exist
    Json toJson() const;
    static Result<SandboxRecord> fromJson(const Json& json);
};

} // namespace gb
