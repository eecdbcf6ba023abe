// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include <backend/sandbox/sandboxprovider.h>

namespace gb {

// How this machine keeps sandboxes to their limits, by the names the keeper uses: "enforced" by the kernel,
// "watched" by the keeper, "pinned" to whole processors. Found out once, by trying.
std::map<std::string, std::string> limitsHere();

// What the form says beside "memory" and "cpu".
std::map<std::string, FieldCapability> limitCapabilities();
// Those that the spec asks for, and a warning for each that is kept less exactly than it says.
void planLimits(const SandboxSpec& spec, SandboxPlan& plan);

} // namespace gb
