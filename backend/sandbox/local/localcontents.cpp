// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "hostcommand.h"
#include "localsandbox.h"

namespace gb {
namespace {

// tar of this machine as a stream: it stores links as links, and unpacking happens inside, so neither a link
// in the folder nor a ".." in a name can reach further than the sandbox.
struct Packer
{
    UniqueFd output;
    pid_t pid = -1;
};

Result<Packer> startPacker(const fs::path& folder)
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return failErrno("cannot make", "a pipe", errno);
    Packer packer;
    packer.output.reset(ends[0]);
    const UniqueFd writing(ends[1]);
    std::string path = folder.string();
    const char* const argv[] = {"tar", "--format=posix", "-C", path.c_str(), "-cf", "-", ".", nullptr};
    const char* const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, writing.get(), 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const int failed = ::posix_spawnp(
        &packer.pid, "tar", &actions, nullptr, const_cast<char* const*>(argv), const_cast<char* const*>(env));
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return failErrno("cannot run", "tar", failed);
    return packer;
}

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
            GB_TRY(copyFolder(local(mount.local), mount.inside));
    }
    return {};
}

Status LocalSandbox::copyFolder(const fs::path& folder, const std::string& inside)
{
    GB_TRY(init().makeFolder(inside));
    ExecSpec unpack = command({"tar", "--no-same-owner", "-C", inside, "-xf", "-"});
    unpack.input = true;
    auto unpacking = init().start(unpack);
    if (!unpacking)
        return fail(unpacking.error());
    auto packer = startPacker(folder);
    if (!packer)
        return fail(packer.error());
    std::string buffer(1U << 16U, '\0');
    Status written;
    for (ssize_t got = 0; written && (got = ::read(packer->output.get(), buffer.data(), buffer.size())) > 0;)
        written = (*unpacking)->write({buffer.data(), static_cast<std::size_t>(got)});
    packer->output.reset();
    int status = 0;
    while (::waitpid(packer->pid, &status, 0) < 0 && errno == EINTR) { }
    (void)(*unpacking)->closeInput();
    const auto outcome = *(*unpacking)->wait();
    if (!outcome)
        return fail(outcome.error());
    if (outcome->code != 0 || status != 0)
        return fail("sandbox.copy_failed", folder.string() + " could not be copied in: " + outcome->errors,
            Json{{"folder", folder.string()}, {"output", outcome->errors}});
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
        const Status copied = got ? copyFolder(folder, "/workspace/" + repo.folderName()) : Status();
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
