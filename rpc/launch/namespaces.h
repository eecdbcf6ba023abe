// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "launchspec.h"

namespace gb {

// The launcher's work, in its process: enter the user namespace, build the mounts, become bwrap (or the
// command). Returns only when something fails. The calling process must be single-threaded.
Error becomeSandbox(const LaunchSpec& spec);

} // namespace gb
