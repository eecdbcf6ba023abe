// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "localcontents.h"

#include <unistd.h>

#include "hostcommand.h"

namespace gb {
namespace {

// Only these transports, no hooks, no submodules, and never an option where an address is expected.
std::vector<std::string> cloneCommand(const RepoSpec& repo, const fs::path& target)
{
    const bool isShort = repo.url.find(':') == std::string::npos;
    const std::string url = isShort ? "https://github.com/" + repo.url : repo.url;
    return {"git", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never", "-c",
        "protocol.https.allow=always", "-c", "protocol.ssh.allow=always", "-c", "core.symlinks=true", "-c",
        "core.fsmonitor=false", "clone", "--quiet", "--no-recurse-submodules", "--template=", "--", url,
        target.string()};
}

} // namespace

Status copyIn(SandboxInside& inside, const StartRequest& request, const MountSpec& mount, bool isFolder)
{
    constexpr unsigned plain = 0644;
    constexpr unsigned executable = 0755;
    const fs::path path = request.local(mount.local);
    if (isFolder)
        return inside.putFolder(path, mount.inside);
    const bool runs = ::access(path.c_str(), X_OK) == 0
        && (fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none;
    return inside.putFile(path, mount.inside, runs ? executable : plain);
}

Status copyAllIn(SandboxInside& inside, const StartRequest& request)
{
    for (const auto* mounts : {&request.spec.localFiles, &request.spec.localDirs}) {
        for (const MountSpec& mount : *mounts) {
            if (mount.mode == MountMode::Copy)
                GB_TRY(copyIn(inside, request, mount, mounts == &request.spec.localDirs));
        }
    }
    return {};
}

Result<std::optional<SpecProblem>> bringRepo(SandboxInside& inside, const ImageStore& images,
    const StartRequest& request, const RepoSpec& repo, const BuildProgress& progress)
{
    const fs::path clones = images.storeFolder().parent_path() / "clones";
    GB_TRY(ensurePrivateDir(clones));
    const fs::path folder = clones / request.id;
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    std::map<std::string, std::string> env = environmentHere(request.build);
    env["GIT_TERMINAL_PROMPT"] = "0";
    const auto cloned = runHostCommand(cloneCommand(repo, folder), env, progress.isCancelled);
    const bool got = cloned && cloned->code == 0;
    const std::string place = "/workspace/" + repo.folderName();
    const Status copied = got ? inside.putFolder(folder, place) : Status();
    fs::remove_all(folder, ignored);
    if (!cloned && cloned.error().code == "cancelled")
        return fail(cloned.error());
    if (!got) {
        const std::string said = cloned ? cloned->errors : cloned.error().message;
        return fail("sandbox.clone_failed", repo.url + " could not be cloned: " + said,
            Json{{"field", "repos"}, {"repo", repo.url}, {"output", said}});
    }
    GB_TRY(copied);
    if (!repo.install)
        return std::nullopt;
    const auto installed = inside.run(*repo.install, place, progress.onOutput);
    if (!installed)
        return fail(installed.error());
    if (installed->code == 0)
        return std::nullopt;
    return SpecProblem{"repos",
        "\"" + *repo.install + "\" failed in " + repo.folderName() + ": " + installed->errors,
        "correct the command, or run it again in the sandbox", SpecProblem::Severity::Warning};
}

} // namespace gb
