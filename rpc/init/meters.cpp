// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "meters.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <backend/base/fd.h>

namespace gb::init {
namespace {

struct Usage
{
    long long ticks = 0;
    long long pages = 0;
};

bool readStat(const char* pid, Usage& usage)
{
    const std::string path = "/proc/" + std::string(pid) + "/stat";
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 1024> text{};
    if (!file.valid() || ::read(file.get(), text.data(), text.size() - 1) <= 0)
        return false;
    const char* behind = std::strrchr(text.data(), ')');
    long long user = 0;
    long long system = 0;
    long long pages = 0;
    // Behind the name: state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime
    // cutime cstime priority nice threads itrealvalue starttime vsize rss
    constexpr const char* format =
        " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %*d %*d %*d %*d %*d %*d "
        "%*u %*u %lld";
    if (!behind || std::sscanf(behind + 1, format, &user, &system, &pages) != 3)
        return false;
    usage.ticks += user + system;
    usage.pages += pages;
    return true;
}

Json freeSpace(const char* path)
{
    struct statvfs info
    { };
    if (::statvfs(path, &info) != 0)
        return nullptr;
    return Json{{"total", info.f_blocks * info.f_frsize}, {"free", info.f_bavail * info.f_frsize}};
}

} // namespace

Json readMeters()
{
    Usage usage;
    int processes = 0;
    if (DIR* folder = ::opendir("/proc")) {
        while (const dirent* entry = ::readdir(folder)) {
            if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && readStat(entry->d_name, usage))
                ++processes;
        }
        ::closedir(folder);
    }
    constexpr long long msPerSecond = 1000;
    return Json{{"processes", processes}, {"memory", usage.pages * ::sysconf(_SC_PAGESIZE)},
        {"cpu_ms", usage.ticks * msPerSecond / ::sysconf(_SC_CLK_TCK)},
        {"disk", Json{{"/workspace", freeSpace("/workspace")}, {"/tmp", freeSpace("/tmp")}}}};
}

} // namespace gb::init
