// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include <backend/domain/sandboxspec.h>

#include "arguments.h"
#include "session.h"

namespace gb::cli {

// What "plan" and "start" are asked for: the experiment's sandbox with the options over it.
struct WantedSandbox
{
    SandboxSpec spec;
    std::string experiment; // its folder; empty without one
};

// The options that describe a sandbox.
std::vector<Option> sandboxFlags();
// From the folder named, else this one if it is an experiment, else from the options alone.
Result<WantedSandbox> wantedSandbox(const Arguments& arguments, Session& session);

// "90", "90s", "30m", "2h", "1d" as seconds.
Result<std::int64_t> parseSeconds(const std::string& text);

} // namespace gb::cli
