// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <backend/base/result.h>

namespace gb {

struct HostOutcome
{
    int code = -1;
    std::string output;
    std::string errors;
};

// A command of this machine under the calling user, with a small environment plus what is given. A cancelled
// one is killed with everything it started, and the outcome is the error "cancelled".
Result<HostOutcome> runHostCommand(const std::vector<std::string>& command,
    const std::map<std::string, std::string>& env, const std::function<bool()>& isCancelled = {});

} // namespace gb
