// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

namespace gb {

// The index's own build of PyTorch carries gigabytes for a GPU; without one the processor's build does the
// same.
bool machineHasGpu();

// "torch==2.1.0+cpu" for each package of PyTorch whose processor's build lies in a folder of packages that
// the person set up, for "3.11": a newer version elsewhere must not win over it.
std::vector<std::string> cpuTorchConstraints(
    const std::map<std::string, std::string>& buildEnvironment, const std::string& pythonVersion);

} // namespace gb
