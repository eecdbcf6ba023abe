// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arguments.h"
#include "console.h"

namespace gb::cli {

// Runs a command in a sandbox as if it ran here: its input and output are ours, its exit code is ours.
int execInSandbox(const Arguments& arguments, Console& console);

} // namespace gb::cli
