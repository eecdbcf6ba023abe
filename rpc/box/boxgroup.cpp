// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxgroup.h"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace gb::rpc {
namespace {

constexpr std::string_view prefix = "glovebox-";

// Where groups may be made, and the names of its files, which differ between the two versions.
struct Place
{
    fs::path folder;
    const char* limit;
    const char* swapLimit;
    std::string swap;
    bool hasControllers = false; // version 2: has to be told what its children may limit
};

bool writeControl(const fs::path& file, const std::string& text)
{
    const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    return fd.valid() && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool stands(const fs::path& path)
{
    return ::access(path.c_str(), F_OK) == 0;
}

// The group this process is in: of the version 1 hierarchy with this controller, or of version 2 ("").
std::optional<std::string> ownGroup(std::string_view controller)
{
    std::istringstream lines(readFile("/proc/self/cgroup").value_or(""));
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

std::vector<Place> places(std::int64_t memory)
{
    std::vector<Place> found;
    const fs::path mounts = "/sys/fs/cgroup";
    const auto under = [](const fs::path& base, const std::string& group) {
        return (base / fs::path(group).relative_path()).lexically_normal();
    };
    if (const auto group = ownGroup(""); group && stands(mounts / "cgroup.controllers")) {
        // A group with processes in it cannot limit its children, so beside ours is tried too.
        const fs::path own = under(mounts, *group);
        found.push_back({own, "memory.max", "memory.swap.max", "0", true});
        if (fs::path(*group).has_relative_path())
            found.push_back({own.parent_path(), "memory.max", "memory.swap.max", "0", true});
    }
    if (const auto group = ownGroup("memory"))
        found.push_back({under(mounts / "memory", *group), "memory.limit_in_bytes",
            "memory.memsw.limit_in_bytes", std::to_string(memory), false});
    return found;
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

bool limitMemory(const Place& place, const fs::path& folder, std::int64_t memory)
{
    if (place.hasControllers && !stands(folder / place.limit))
        writeControl(place.folder / "cgroup.subtree_control", "+memory");
    if (!writeControl(folder / place.limit, std::to_string(memory)))
        return false;
    if (stands(folder / place.swapLimit))
        writeControl(folder / place.swapLimit, place.swap);
    return ::access((folder / "cgroup.procs").c_str(), W_OK) == 0;
}

} // namespace

std::unique_ptr<BoxGroup> BoxGroup::create(const std::string& id, std::int64_t memory)
{
    for (const Place& place : places(memory)) {
        removeLeftOvers(place.folder);
        const fs::path folder = place.folder / (std::string(prefix) + id);
        if (::mkdir(folder.c_str(), 0755) != 0)
            continue;
        if (limitMemory(place, folder, memory))
            return std::unique_ptr<BoxGroup>(new BoxGroup(folder));
        ::rmdir(folder.c_str());
    }
    return nullptr;
}

BoxGroup::~BoxGroup()
{
    ::rmdir(m_folder.c_str());
}

std::int64_t BoxGroup::killed() const
{
    for (const char* file : {"memory.events", "memory.oom_control"}) {
        const auto text = readFile(m_folder / file);
        constexpr std::string_view name = "oom_kill ";
        std::istringstream lines(text.value_or(""));
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with(name))
                return std::strtoll(line.c_str() + name.size(), nullptr, 10);
        }
    }
    return 0;
}

} // namespace gb::rpc
