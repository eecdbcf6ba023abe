// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/files.h>

namespace gb {

// What the kernel lets this user do, tried out in a child process that ends at once. Each gives back 0, or
// the errno of what was refused, with the name of that step.
struct ProbeResult
{
    int error = 0;
    std::string step;
};

ProbeResult probeUserNamespace();
// Mounts an overlay as sandboxes do; `folder` is where their layers would lie.
ProbeResult probeOverlay(const fs::path& folder);

} // namespace gb
