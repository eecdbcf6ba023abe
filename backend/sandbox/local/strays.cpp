// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "strays.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <ctime>
#include <optional>
#include <sstream>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <backend/base/fd.h>
#include <backend/base/files.h>
#include <backend/base/json.h>
#include <backend/base/log.h>
#include <rpc/launch/bwrapargs.h>
#include <rpc/launch/launchspec.h>

namespace gb {
namespace {

constexpr std::size_t procFileLimit = 1U << 20U;

std::string procFile(pid_t pid, const char* name)
{
    return readFile(fs::path("/proc") / std::to_string(pid) / name, procFileLimit).value_or("");
}

// The rest of the line of /proc/PID/status that begins with `name`.
std::string statusLine(const std::string& status, const std::string& name)
{
    const auto at = status.find("\n" + name + ":");
    if (at == std::string::npos)
        return {};
    const auto from = at + name.size() + 2;
    return status.substr(from, status.find('\n', from) - from);
}

std::vector<std::int64_t> numbersIn(const std::string& text)
{
    std::istringstream words(text);
    std::vector<std::int64_t> numbers;
    for (std::int64_t number = 0; words >> number;)
        numbers.push_back(number);
    return numbers;
}

// Words end with a NUL each.
bool startsOurInit(const std::string& commandLine)
{
    using namespace std::string_literals;
    return commandLine.starts_with("bwrap\0"s)
        && commandLine.ends_with("\0--\0"s + initInside + "\0"s + std::to_string(launcherInitFd) + "\0"s);
}

bool isOurs(std::int64_t uid)
{
    static const auto map = idMapOfThisUser();
    return uid == static_cast<std::int64_t>(::geteuid())
        || (map && std::ranges::any_of(map->uids, [uid](const IdRange& range) {
               return uid >= range.outside && uid < range.outside + range.count;
           }));
}

// How long ago it began; none when it is gone.
std::optional<std::chrono::seconds> ageOf(pid_t pid)
{
    constexpr std::size_t startAfterName = 20; // the 22nd word, and the name is the second
    const auto stat = procFile(pid, "stat");
    const auto name = stat.rfind(')');
    if (name == std::string::npos)
        return {};
    std::istringstream words(stat.substr(name + 1));
    std::string word;
    for (std::size_t i = 0; i < startAfterName; ++i)
        words >> word;
    std::int64_t ticks = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), ticks).ec != std::errc())
        return {};
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec - ticks / ::sysconf(_SC_CLK_TCK));
}

bool isStray(pid_t pid, std::chrono::seconds age)
{
    const auto commandLine = procFile(pid, "cmdline");
    if (!startsOurInit(commandLine))
        return false;
    const auto status = procFile(pid, "status");
    const auto ids = numbersIn(statusLine(status, "NSpid"));
    const auto uids = numbersIn(statusLine(status, "Uid"));
    const auto parents = numbersIn(statusLine(status, "PPid"));
    if (ids.size() < 2 || ids.back() != 1 || uids.empty() || !isOurs(uids.front()) || parents.empty())
        return false;
    // A parent that cannot be looked at may be the right one.
    const auto parentLine = procFile(static_cast<pid_t>(parents.front()), "cmdline");
    const auto lived = ageOf(pid);
    return !parentLine.empty() && parentLine != commandLine && lived && *lived >= age;
}

} // namespace

std::vector<pid_t> endStrays(std::chrono::seconds age)
{
    std::vector<pid_t> ended;
    std::error_code error;
    for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        pid_t pid = 0;
        const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (read.ec != std::errc() || read.ptr != name.data() + name.size() || !isStray(pid, age))
            continue;
        // The number may be another's by now: what is held is looked at again before it is killed.
        const UniqueFd held(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
        if (!held.valid() || !isStray(pid, age)
            || ::syscall(SYS_pidfd_send_signal, held.get(), SIGKILL, nullptr, 0) != 0)
            continue;
        logWarning("local", "ended what a killed start left behind", Json{{"pid", pid}});
        ended.push_back(pid);
    }
    return ended;
}

} // namespace gb
