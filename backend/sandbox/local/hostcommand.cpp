// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hostcommand.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <backend/base/fd.h>

namespace gb {
namespace {

std::vector<char*> hostPointers(std::vector<std::string>& texts)
{
    std::vector<char*> out;
    for (std::string& text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

// False when it was cancelled before both streams ended.
bool collect(int outputFd, int errorsFd, HostOutcome& outcome, const std::function<bool()>& isCancelled)
{
    constexpr int lookMs = 100;
    constexpr std::size_t most = 4U << 20U;
    std::array<pollfd, 2> polled{pollfd{outputFd, POLLIN, 0}, pollfd{errorsFd, POLLIN, 0}};
    std::array<std::string*, 2> texts{&outcome.output, &outcome.errors};
    std::array<char, 1U << 14U> buffer{};
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
        if (::poll(polled.data(), polled.size(), isCancelled ? lookMs : -1) < 0 && errno != EINTR)
            return true;
        if (isCancelled && isCancelled())
            return false;
        for (std::size_t i = 0; i < polled.size(); ++i) {
            if (polled[i].fd < 0 || polled[i].revents == 0)
                continue;
            const ssize_t got = ::read(polled[i].fd, buffer.data(), buffer.size());
            if (got <= 0)
                polled[i].fd = -1;
            else if (texts[i]->size() < most)
                texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
        }
    }
    return true;
}

} // namespace

Result<HostOutcome> runHostCommand(const std::vector<std::string>& command,
    const std::map<std::string, std::string>& env, const std::function<bool()>& isCancelled)
{
    std::array<int, 2> output{};
    std::array<int, 2> errors{};
    if (::pipe2(output.data(), O_CLOEXEC) != 0)
        return failErrno("cannot make", "a pipe", errno);
    const UniqueFd outputRead(output[0]);
    UniqueFd outputWrite(output[1]);
    if (::pipe2(errors.data(), O_CLOEXEC) != 0)
        return failErrno("cannot make", "a pipe", errno);
    const UniqueFd errorsRead(errors[0]);
    UniqueFd errorsWrite(errors[1]);

    std::vector<std::string> words = command;
    std::vector<std::string> variables{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"};
    for (const auto& [name, value] : env)
        variables.push_back(name + "=" + value);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, outputWrite.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, errorsWrite.get(), 2);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t pid = -1;
    const int failed = ::posix_spawnp(&pid, words.front().c_str(), &actions, &attributes,
        hostPointers(words).data(), hostPointers(variables).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0)
        return failErrno("cannot run", command.front(), failed);
    outputWrite.reset();
    errorsWrite.reset();
    HostOutcome outcome;
    const bool isWhole = collect(outputRead.get(), errorsRead.get(), outcome, isCancelled);
    if (!isWhole)
        ::kill(-pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) { }
    if (!isWhole)
        return fail("cancelled", command.front() + " was cancelled");
    constexpr int signalBase = 128;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : signalBase + WTERMSIG(status);
    return outcome;
}

} // namespace gb
