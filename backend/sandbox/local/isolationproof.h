// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <vector>

#include <backend/base/json.h>
#include <rpc/launch/launcher.h>

namespace gb {

// One thing that must not be possible inside. The same is tried outside, where it must succeed: what fails
// everywhere shows nothing.
struct IsolationCheck
{
    std::string name; // "files", "writing", ...
    bool isPossibleOutside = false;
    bool isPossibleInside = true;

    bool isGood() const { return isPossibleOutside && !isPossibleInside; }
};

struct IsolationProof
{
    std::string kernel;
    std::string bwrap; // what it calls itself, and which file it is
    std::int64_t at = 0;
    std::vector<IsolationCheck> checks;
    std::string failure; // a sentence; empty when all is well

    bool isPassed() const { return failure.empty(); }
    Json toJson() const;
};

// Which kernel and bubblewrap are here; what was proved holds for these. Takes microseconds.
std::string kernelHere();
std::string bwrapHere();

// Starts a small sandbox and tries. `folder` is a private one of ours for things to look for, `store` one
// that prepareStore() made.
IsolationProof tryIsolation(const fs::path& folder, const fs::path& store, const LaunchTools& tools);

} // namespace gb
