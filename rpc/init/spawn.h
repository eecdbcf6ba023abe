// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <backend/base/fd.h>
#include <backend/base/json.h>

namespace gb::init {

struct Child
{
    pid_t pid = -1;
    bool pty = false;
    UniqueFd input;
    UniqueFd output;
    UniqueFd errors;
    UniqueFd socket; // our end of the pair whose other end is the child's descriptor 3
};

// Starts a command in a session of its own with the environment, folder and streams the request names.
Result<Child> spawn(const Json& request);

} // namespace gb::init
