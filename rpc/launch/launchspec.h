// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include <backend/base/files.h>

namespace gb {

struct BindSpec
{
    std::string source; // on this machine, absolute or relative to the store
    std::string target;
    bool writable = false;
    bool device = false; // a device file that may be used
};

struct TmpfsSpec
{
    std::string target;
    std::int64_t bytes = 0;
    unsigned mode = 0755;
};

struct LinkSpec
{
    std::string to;
    std::string at;
};

struct IdRange
{
    std::int64_t inside = 0;
    std::int64_t outside = 0;
    std::int64_t count = 0;
};

// Everything glovebox-launcher needs to build one isolated process tree. Relative paths start at the store,
// a 0700 folder whose contents belong to the ids of the map.
struct LaunchSpec
{
    fs::path store;
    std::vector<IdRange> uids;
    std::vector<IdRange> gids;

    std::vector<std::string> folders; // made in the store beforehand, as root of the map
    std::vector<std::string> lowers; // newest first; none: the root is an empty tmpfs
    std::string upper; // none: the layers are shown read-only
    std::string work;

    std::vector<BindSpec> binds;
    std::vector<TmpfsSpec> tmpfs;
    std::vector<LinkSpec> links;
    std::vector<std::string> emptyFolders; // made inside an empty root
    bool network = false;
    bool readOnlyRoot = false;
    std::vector<std::string> capabilities;
    std::string hostname = "box";
    std::int64_t processes = 4096; // RLIMIT_NPROC, counted per sandbox by the user namespace
    std::int64_t fileBytes = 0; // RLIMIT_FSIZE, 0: not limited
    std::vector<std::string> groups; // cgroup.procs files to enter
    std::vector<int> processors; // those it may run on, and cannot leave; none: all

    // Instead of a sandbox: this program with the machine's own files, as root of the map, in the store.
    std::vector<std::string> hostCommand;
    std::map<std::string, std::string> hostEnv;

    Json toJson() const;
    static Result<LaunchSpec> fromJson(const Json& json);
};

// The map that this user may have. As root a fixed range far from real ids; as an ordinary user the
// subordinate ids of /etc/subuid and /etc/subgid around the person's own. The error says what to add there.
struct IdMap
{
    std::vector<IdRange> uids;
    std::vector<IdRange> gids;
};
Result<IdMap> idMapOfThisUser();

// The descriptors the launcher expects, beyond the standard ones.
constexpr int launcherSpecFd = 3;
constexpr int launcherInitFd = 4;
constexpr int launcherFilterFd = 5;

} // namespace gb
