// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hoststart.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <backend/base/json.h>

namespace gb {
namespace {

constexpr int configFd = 3;
constexpr std::size_t longestLine = 1U << 20U;

Result<UniqueFd> configFile(const Json& config)
{
    const std::string text = config.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    UniqueFd fd(::memfd_create("glovebox-config", MFD_CLOEXEC));
    if (!fd.valid())
        return failErrno("cannot make", "a configuration in memory", errno);
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t n = ::write(fd.get(), rest.data(), rest.size());
        if (n <= 0)
            return failErrno("cannot write", "a configuration in memory", errno);
        rest.remove_prefix(static_cast<std::size_t>(n));
    }
    ::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

// The shell in between ends at once; it says whom it has started, so that we can end it when it hangs.
Result<pid_t> spawnDetached(const fs::path& program, int config, int output, const fs::path& log)
{
    const std::string path = program.string();
    const char* const argv[] = {
        "sh", "-c", "\"$0\" --config-fd 3 & echo \"started $!\"", path.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, config, configFd);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGTERM, SIGQUIT})
        sigaddset(&usual, number);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t pid = -1;
    const int failed =
        ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, const_cast<char* const*>(argv), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return failErrno("cannot start", path, failed);
    return pid;
}

// The next line of the pipe; "cancelled", or "sandbox.keeper_failed" at its end.
Result<std::string> readLine(int fd, std::string& buffer, const std::function<bool()>& isCancelled)
{
    constexpr int lookMs = 50;
    std::array<char, 1U << 14U> piece{};
    for (;;) {
        if (const auto end = buffer.find('\n'); end != std::string::npos) {
            std::string line = buffer.substr(0, end);
            buffer.erase(0, end + 1);
            return line;
        }
        if (isCancelled && isCancelled())
            return fail("cancelled", "cancelled");
        pollfd polled{fd, POLLIN, 0};
        if (::poll(&polled, 1, lookMs) <= 0)
            continue;
        const ssize_t got = ::read(fd, piece.data(), piece.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || buffer.size() > longestLine)
            return fail("sandbox.keeper_failed", "the keeper ended before it said anything");
        buffer.append(piece.data(), static_cast<std::size_t>(got));
    }
}

Result<Json> readAnswer(int fd, pid_t& started, const std::function<bool()>& isCancelled)
{
    std::string buffer;
    for (;;) {
        const auto line = readLine(fd, buffer, isCancelled);
        if (!line)
            return fail(line.error());
        if (line->starts_with("started ")) {
            started = static_cast<pid_t>(std::strtol(line->c_str() + 8, nullptr, 10));
            continue;
        }
        auto answer = parseJson(*line);
        if (!answer || !answer->is_object())
            return fail("sandbox.keeper_failed", "the keeper said something else than expected");
        if (const auto error = answer->find("error"); error != answer->end() && !answer->contains("control"))
            return fail(Error::fromJson(*error));
        return answer;
    }
}

} // namespace

Result<Json> startHost(const fs::path& program, const Json& config, const fs::path& log,
    const std::function<bool()>& isCancelled)
{
    if (::access(program.c_str(), X_OK) != 0)
        return failErrno("cannot start", program.string(), errno);
    const auto file = configFile(config);
    if (!file)
        return fail(file.error());
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return failErrno("cannot make", "a pipe", errno);
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const auto shell = spawnDetached(program, file->get(), writing.get(), log);
    if (!shell)
        return fail(shell.error());
    writing.reset();
    pid_t started = -1;
    auto answer = readAnswer(reading.get(), started, isCancelled);
    while (::waitpid(*shell, nullptr, 0) < 0 && errno == EINTR) { }
    if (!answer && started > 0 && answer.error().code != "sandbox.keeper_failed")
        ::kill(started, SIGKILL);
    return answer;
}

} // namespace gb
