// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <backend/base/files.h>

namespace gb {

struct GroupLimits
{
    std::int64_t memory = 0; // bytes; 0: not limited, here and below
    double cpu = 0; // processors; without, the group as a whole gets one share, however many run in it
    std::int64_t processes = 0;
};

struct ControlGroupPlaces
{
    fs::path mounts = "/sys/fs/cgroup";
    fs::path membership = "/proc/self/cgroup";
};

// Control groups of a sandbox's own, so that the kernel keeps it below its limits: one of version 2, or one
// in each hierarchy of version 1, wherever this user may make some. They go with this object, once nothing
// runs in them.
class ControlGroup
{
public:
    enum class Limit { Memory, Cpu, Share, Processes };

    // Nothing where none of the limits can be kept this way.
    static std::unique_ptr<ControlGroup> create(
        const std::string& id, const GroupLimits& limits, const ControlGroupPlaces& places = {});
    // Which limits would be kept, found out by keeping them for a process that does nothing.
    static std::vector<Limit> tryOut(const ControlGroupPlaces& places = {});
    ~ControlGroup();
    ControlGroup(const ControlGroup&) = delete;
    ControlGroup& operator=(const ControlGroup&) = delete;

    bool keeps(Limit limit) const;
    // Whoever writes 0 to these files is in the groups from then on.
    std::vector<std::string> entrances() const;
    // How many processes the kernel ended to stay below the limit of memory.
    std::int64_t killed() const;

private:
    ControlGroup() = default;

    std::vector<fs::path> m_folders;
    std::vector<Limit> m_kept;
};

} // namespace gb
