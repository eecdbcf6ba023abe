// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <rpc/launch/foldercopy.h>

#include "hostcommand.h"
#include "localsandbox.h"

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

Status LocalSandbox::copyIn()
{
    constexpr unsigned plain = 0644;
    constexpr unsigned executable = 0755;
    for (const MountSpec& mount : m_request.spec.localFiles) {
        if (mount.mode != MountMode::Copy)
            continue;
        const fs::path path = local(mount.local);
        const bool runs = ::access(path.c_str(), X_OK) == 0
            && (fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none;
        GB_TRY(init().putFile(path, mount.inside, runs ? executable : plain));
    }
    for (const MountSpec& mount : m_request.spec.localDirs) {
        if (mount.mode == MountMode::Copy)
            GB_TRY(copyFolderIn(init(), local(mount.local), mount.inside));
    }
    return {};
}

Status LocalSandbox::cloneRepos(const BuildProgress& progress)
{
    for (const RepoSpec& repo : m_request.spec.repos) {
        const fs::path clones = m_images.storeFolder().parent_path() / "clones";
        GB_TRY(ensurePrivateDir(clones));
        const fs::path folder = clones / m_request.id;
        std::error_code ignored;
        fs::remove_all(folder, ignored);
        std::map<std::string, std::string> env = m_request.build.env;
        env["GIT_TERMINAL_PROMPT"] = "0";
        const auto cloned = runHostCommand(cloneCommand(repo, folder), env);
        const bool got = cloned && cloned->code == 0;
        const Status copied =
            got ? copyFolderIn(init(), folder, "/workspace/" + repo.folderName()) : Status();
        fs::remove_all(folder, ignored);
        if (!got) {
            const std::string said = cloned ? cloned->errors : cloned.error().message;
            return fail("sandbox.clone_failed", repo.url + " could not be cloned: " + said,
                Json{{"field", "repos"}, {"repo", repo.url}, {"output", said}});
        }
        GB_TRY(copied);
        if (!repo.install)
            continue;
        ExecSpec install = shell(*repo.install);
        install.folder = "/workspace/" + repo.folderName();
        if (progress.onOutput)
            install.onOutput = [&progress](
                                   std::string_view, std::string_view text) { progress.onOutput(text); };
        const auto installed = init().run(install);
        if (!installed)
            return fail(installed.error());
        if (installed->code != 0)
            warn("repos",
                "\"" + *repo.install + "\" failed in " + repo.folderName() + ": " + installed->errors,
                "correct the command, or run it again in the sandbox");
    }
    return {};
}

} // namespace gb
