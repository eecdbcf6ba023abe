// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "localrecipe.h"

namespace gb {

// How things get inside: by the process that holds the sandbox, or through its keeper.
class SandboxInside
{
public:
    struct Outcome
    {
        int code = -1;
        std::string errors;
    };

    virtual ~SandboxInside() = default;
    virtual Status putFile(const fs::path& local, const std::string& inside, unsigned mode) = 0;
    virtual Status putFolder(const fs::path& folder, const std::string& inside) = 0;
    virtual Result<Outcome> run(const std::string& script, const std::string& folder,
        const std::function<void(std::string_view)>& onOutput) = 0;
};

// One file or folder of the spec; all that are copied.
Status copyIn(SandboxInside& inside, const StartRequest& request, const MountSpec& mount, bool isFolder);
Status copyAllIn(SandboxInside& inside, const StartRequest& request);
// Clones outside, with the person's keys and no hooks, copies it to /workspace/<repo> and runs its install
// command there. A command that fails is a warning: the sandbox is useful without it.
Result<std::optional<SpecProblem>> bringRepo(SandboxInside& inside, const ImageStore& images,
    const StartRequest& request, const RepoSpec& repo, const BuildProgress& progress);

} // namespace gb
