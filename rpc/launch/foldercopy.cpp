// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "foldercopy.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

namespace gb {
namespace {

// tar of this machine as a stream; links are stored as links.
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

} // namespace

Status copyFolderIn(InitClient& init, const fs::path& folder, const std::string& inside)
{
    GB_TRY(init.makeFolder(inside));
    ExecSpec unpack;
    unpack.argv = {"tar", "--no-same-owner", "-C", inside, "-xf", "-"};
    unpack.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C.UTF-8"}};
    unpack.input = true;
    auto unpacking = init.start(unpack);
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

} // namespace gb
