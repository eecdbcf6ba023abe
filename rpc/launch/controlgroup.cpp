// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "controlgroup.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <backend/base/ids.h>

namespace gb {
namespace {

using Limit = ControlGroup::Limit;

constexpr std::string_view prefix = "glovebox-";
constexpr std::int64_t periodUs = 100'000;

// One limit as the kernel takes it: what to write where, in this order. Where a file may be missing, it is
// one of a kernel without swap.
struct Control
{
    struct File
    {
        const char* name;
        std::string text;
        bool mayBeMissing = false;
    };

    Limit limit = Limit::Memory;
    const char* controller = "";
    std::vector<File> unified; // version 2
    std::vector<File> separate; // version 1
};

std::vector<Control> controlsFor(const GroupLimits& limits)
{
    constexpr std::int64_t leastQuotaUs = 1'000;
    std::vector<Control> controls;
    if (limits.memory > 0) {
        const std::string bytes = std::to_string(limits.memory);
        controls.push_back({Limit::Memory, "memory", {{"memory.max", bytes}, {"memory.swap.max", "0", true}},
            {{"memory.limit_in_bytes", bytes}, {"memory.memsw.limit_in_bytes", bytes, true}}});
    }
    if (limits.cpu > 0) {
        const std::string quota = std::to_string(
            std::max<std::int64_t>(leastQuotaUs, std::llround(limits.cpu * static_cast<double>(periodUs))));
        const std::string period = std::to_string(periodUs);
        std::string both = quota;
        both += " " + period;
        controls.push_back({Limit::Cpu, "cpu", {{"cpu.max", std::move(both)}},
            {{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", quota}}});
    }
    if (limits.cpu <= 0)
        controls.push_back({Limit::Share, "cpu", {{"cpu.weight", "100"}}, {{"cpu.shares", "1024"}}});
    if (limits.processes > 0) {
        const std::string count = std::to_string(limits.processes);
        controls.push_back({Limit::Processes, "pids", {{"pids.max", count}}, {{"pids.max", count}}});
    }
    return controls;
}

bool writeControl(const fs::path& file, const std::string& text)
{
    const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    return fd.valid() && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool stands(const fs::path& path)
{
    return ::access(path.c_str(), F_OK) == 0;
}

bool writeAll(const fs::path& folder, const std::vector<Control::File>& files)
{
    return std::ranges::all_of(files, [&](const Control::File& file) {
        return (file.mayBeMissing && !stands(folder / file.name))
            || writeControl(folder / file.name, file.text) || file.mayBeMissing;
    });
}

// The group this process is in: of the version 1 hierarchy with this controller, or of version 2 ("").
std::optional<std::string> ownGroup(const fs::path& membership, std::string_view controller)
{
    std::istringstream lines(readFile(membership).value_or(""));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
        const bool found = controller.empty() ? names == ",," && line.starts_with("0:")
                                              : names.find("," + std::string(controller) + ",") != names.npos;
        if (found)
            return line.substr(second + 1);
    }
    return std::nullopt;
}

// Empty groups of keepers that were killed. A young one may still be about to be entered.
void removeLeftOvers(const fs::path& folder)
{
    constexpr std::int64_t oldSeconds = 60;
    const std::int64_t now =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        struct stat info
        { };
        if (entry.path().filename().string().starts_with(prefix) && ::stat(entry.path().c_str(), &info) == 0
            && info.st_mtim.tv_sec + oldSeconds < now)
            ::rmdir(entry.path().c_str());
    }
}

fs::path groupFolder(const fs::path& mount, const std::string& group)
{
    return (mount / fs::path(group).relative_path()).lexically_normal();
}

// A new group in this one; empty where none may be made.
fs::path makeGroup(const fs::path& parent, const std::string& id)
{
    constexpr mode_t mode = 0755;
    removeLeftOvers(parent);
    fs::path folder = parent / (std::string(prefix) + id);
    return ::mkdir(folder.c_str(), mode) == 0 || errno == EEXIST ? folder : fs::path();
}

bool isEnterable(const fs::path& folder)
{
    return ::access((folder / "cgroup.procs").c_str(), W_OK) == 0;
}

struct Made
{
    fs::path folder;
    std::vector<Limit> kept;
};

// In version 2 one group has all controllers that its parent was told to hand down.
std::optional<Made> makeUnified(
    const fs::path& parent, const std::string& id, const std::vector<Control>& all)
{
    Made made{makeGroup(parent, id), {}};
    if (made.folder.empty())
        return std::nullopt;
    for (const Control& control : all) {
        if (!stands(made.folder / control.unified.front().name))
            writeControl(parent / "cgroup.subtree_control", std::string("+") + control.controller);
        if (writeAll(made.folder, control.unified))
            made.kept.push_back(control.limit);
    }
    if (!made.kept.empty() && isEnterable(made.folder))
        return made;
    ::rmdir(made.folder.c_str());
    return std::nullopt;
}

std::optional<Made> makeSeparate(const fs::path& parent, const std::string& id, const Control& control)
{
    Made made{makeGroup(parent, id), {control.limit}};
    if (made.folder.empty())
        return std::nullopt;
    if (writeAll(made.folder, control.separate) && isEnterable(made.folder))
        return made;
    ::rmdir(made.folder.c_str());
    return std::nullopt;
}

// A group with processes in it cannot limit its children, so beside ours is tried too.
std::vector<fs::path> unifiedParents(const ControlGroupPlaces& places)
{
    const auto group = ownGroup(places.membership, "");
    if (!group || !stands(places.mounts / "cgroup.controllers"))
        return {};
    const fs::path own = groupFolder(places.mounts, *group);
    if (fs::path(*group).has_relative_path())
        return {own, own.parent_path()};
    return {own};
}

bool isKept(const std::vector<Limit>& kept, Limit limit)
{
    return std::ranges::find(kept, limit) != kept.end();
}

// Whether a process may enter; the caller has threads, so the child makes system calls only.
bool canEnter(const std::string& entrance)
{
    const pid_t child = ::fork();
    if (child == 0) {
        const int fd = ::open(entrance.c_str(), O_WRONLY | O_CLOEXEC);
        ::_exit(fd >= 0 && ::write(fd, "0", 1) == 1 ? 0 : 1);
    }
    int status = -1;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

} // namespace

std::unique_ptr<ControlGroup> ControlGroup::create(
    const std::string& id, const GroupLimits& limits, const ControlGroupPlaces& places)
{
    std::unique_ptr<ControlGroup> group(new ControlGroup);
    std::vector<Control> wanted = controlsFor(limits);
    const auto take = [&](std::optional<Made> made) {
        if (!made)
            return;
        group->m_folders.push_back(made->folder);
        group->m_kept.insert(group->m_kept.end(), made->kept.begin(), made->kept.end());
        std::erase_if(wanted, [&](const Control& control) { return isKept(group->m_kept, control.limit); });
    };
    for (const fs::path& parent : unifiedParents(places)) {
        if (group->m_folders.empty() && !wanted.empty())
            take(makeUnified(parent, id, wanted));
    }
    for (const Control& control : std::vector(wanted)) {
        if (const auto own = ownGroup(places.membership, control.controller))
            take(makeSeparate(groupFolder(places.mounts / control.controller, *own), id, control));
    }
    // The number of processes is limited without a group too, so it alone is worth none.
    const bool isWorthIt =
        std::ranges::any_of(group->m_kept, [](Limit limit) { return limit != Limit::Processes; });
    return isWorthIt ? std::move(group) : nullptr;
}

std::vector<Limit> ControlGroup::tryOut(const ControlGroupPlaces& places)
{
    constexpr std::int64_t someMemory = 1L << 30;
    const auto group = create(newId(), {someMemory, 1, 0}, places);
    if (!group || !std::ranges::all_of(group->entrances(), canEnter))
        return {};
    return group->m_kept;
}

ControlGroup::~ControlGroup()
{
    // The last of many processes are gone a moment after nobody sees them any more.
    constexpr int mostTries = 50;
    constexpr useconds_t aMoment = 2'000;
    for (const fs::path& folder : m_folders) {
        for (int i = 0; i < mostTries && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i)
            ::usleep(aMoment);
    }
}

bool ControlGroup::keeps(Limit limit) const
{
    return isKept(m_kept, limit);
}

std::vector<std::string> ControlGroup::entrances() const
{
    std::vector<std::string> all;
    for (const fs::path& folder : m_folders)
        all.push_back((folder / "cgroup.procs").string());
    return all;
}

std::int64_t ControlGroup::killed() const
{
    constexpr std::string_view name = "oom_kill ";
    for (const fs::path& folder : m_folders) {
        for (const char* file : {"memory.events", "memory.oom_control"}) {
            std::istringstream lines(readFile(folder / file).value_or(""));
            for (std::string line; std::getline(lines, line);) {
                if (line.starts_with(name))
                    return std::strtoll(line.c_str() + name.size(), nullptr, 10);
            }
        }
    }
    return 0;
}

} // namespace gb
