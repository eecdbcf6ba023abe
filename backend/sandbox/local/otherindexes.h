// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include <backend/domain/sandboxspec.h>

namespace gb {

// Addresses of the indexes that this person's settings name for npm (the environment, .npmrc) and for conda
// (the environment, .condarc).
std::vector<std::string> npmRegistries(const std::map<std::string, std::string>& environment);
std::vector<std::string> condaChannels(const std::map<std::string, std::string>& environment);

// npm's own default, as npm of this machine says it; empty where there is none. Only for a sandbox that has
// npm.
std::string defaultNpmRegistry(
    const SandboxSpec& spec, const std::map<std::string, std::string>& environment);

} // namespace gb
