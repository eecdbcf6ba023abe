// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "launchspec.h"

namespace gb {

// Where the launcher's private mounts stand while bwrap picks them up.
constexpr const char* stageFolder = "/tmp";
constexpr const char* rootFolder = "/tmp/root";

// The last bind of a sandbox is init itself.
constexpr const char* initInside = "/run/glovebox/init";

std::vector<std::string> bwrapArguments(const LaunchSpec& spec);

} // namespace gb
