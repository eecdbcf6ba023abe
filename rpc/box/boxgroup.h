// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include <backend/base/files.h>

namespace gb::rpc {

// A control group of the sandbox's own, so that the kernel keeps its memory below a limit. Goes with this
// object, once nothing runs in it.
class BoxGroup
{
public:
    // Nothing where this user may make none, or where the memory controller is missing.
    static std::unique_ptr<BoxGroup> create(const std::string& id, std::int64_t memory);
    ~BoxGroup();
    BoxGroup(const BoxGroup&) = delete;
    BoxGroup& operator=(const BoxGroup&) = delete;

    // Whoever writes 0 to this file is in the group from then on.
    fs::path processes() const { return m_folder / "cgroup.procs"; }
    // How many processes the kernel ended to stay below the limit.
    std::int64_t killed() const;

private:
    explicit BoxGroup(fs::path folder) : m_folder(std::move(folder)) { }

    fs::path m_folder;
};

} // namespace gb::rpc
