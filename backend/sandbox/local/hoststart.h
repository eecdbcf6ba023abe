// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <backend/base/files.h>

namespace gb {

// Starts glovebox-host so that it is nobody's child here and outlives this process, and answers with the line
// it prints once it serves; an error it prints is the error. The configuration travels in memory, because it
// may hold secrets. One that is cancelled, or that says nothing, is killed.
Result<Json> startHost(const fs::path& program, const Json& config, const fs::path& log,
    const std::function<bool()>& isCancelled);

} // namespace gb
