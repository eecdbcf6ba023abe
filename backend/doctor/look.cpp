// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "look.h"

#include <csignal>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <backend/base/clock.h>
#include <backend/base/fd.h>

namespace gb {
namespace {

constexpr std::size_t answerBytes = 4096;

// Reads until the program closes its output or the time is over; true when it closed.
bool readAnswer(int fd, std::string& text, int timeoutMs)
{
    const std::int64_t end = monotonicNs() + std::int64_t(timeoutMs) * 1'000'000;
    char buffer[1024];
    for (;;) {
        pollfd waiting{fd, POLLIN, 0};
        const std::int64_t left = (end - monotonicNs()) / 1'000'000;
        if (left <= 0 || ::poll(&waiting, 1, int(left)) <= 0)
            return false;
        const ssize_t count = ::read(fd, buffer, sizeof buffer);
        if (count <= 0)
            return true;
        if (text.size() < answerBytes)
            text.append(buffer, std::size_t(count));
    }
}

int reap(pid_t child, bool closed)
{
    // One that closed its output and still does not end is not waited for either.
    int status = 0;
    for (int i = 0; closed && i < 100; ++i) {
        if (::waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ::usleep(10'000);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -1;
}

std::vector<char*> pointers(std::vector<std::string>& texts)
{
    std::vector<char*> all;
    for (std::string& text : texts)
        all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

} // namespace

std::string environmentValue(const DoctorOptions& options, const std::string& name)
{
    const auto found = options.environment.find(name);
    return found == options.environment.end() ? std::string() : found->second;
}

fs::path systemPath(const DoctorOptions& options, const std::string& path)
{
    return options.root / fs::path(path).relative_path();
}

std::string textOfFile(const fs::path& path)
{
    // Files of the kernel have no size, so they are not read by it.
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::string text(65536, '\0');
    const ssize_t count = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : -1;
    text.resize(count > 0 ? std::size_t(count) : 0);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

std::string kernelSetting(const DoctorOptions& options, const std::string& name, const std::string& missing)
{
    const std::string value = textOfFile(systemPath(options, "/proc/sys/" + name));
    return value.empty() ? missing : value;
}

fs::path findProgram(const DoctorOptions& options, const std::string& name)
{
    std::istringstream folders(environmentValue(options, "PATH"));
    std::string folder;
    while (std::getline(folders, folder, ':')) {
        const fs::path candidate = fs::path(folder) / name;
        std::error_code error;
        if (!folder.empty() && fs::is_regular_file(candidate, error)
            && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return {};
}

ProgramAnswer askProgram(const DoctorOptions& options, const std::vector<std::string>& arguments)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return {};
    UniqueFd ours(ends[0]);
    UniqueFd theirs(ends[1]);
    std::vector<std::string> words = arguments;
    std::vector<std::string> environment{"PATH=" + environmentValue(options, "PATH"),
        "HOME=" + environmentValue(options, "HOME"), "PYTHONDONTWRITEBYTECODE=1"};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    const int failed = ::posix_spawn(&child, words.front().c_str(), &actions, nullptr, pointers(words).data(),
        pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    theirs.reset();
    ProgramAnswer answer;
    if (failed != 0)
        return answer;
    answer.started = true;
    answer.status = reap(child, readAnswer(ours.get(), answer.text, options.programTimeoutMs));
    while (!answer.text.empty() && answer.text.back() == '\n')
        answer.text.pop_back();
    return answer;
}

} // namespace gb
