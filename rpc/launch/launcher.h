// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include <sys/types.h>

#include "initclient.h"
#include "launchspec.h"

namespace gb {

// The two programs beside ours; tests name those of the build folder.
struct LaunchTools
{
    fs::path launcher;
    fs::path init;

    static LaunchTools besideThisProgram();
};

// A running sandbox, child of the calling process. It dies with the *thread* that started it: a keeper
// launches from its main thread. Destruction ends everything in it.
class RunningSandbox
{
public:
    ~RunningSandbox();
    RunningSandbox(const RunningSandbox&) = delete;
    RunningSandbox& operator=(const RunningSandbox&) = delete;

    InitClient& init() const { return *m_init; }
    pid_t pid() const { return m_pid; } // of bwrap, outside
    bool running() const;
    void kill(); // at once and from any thread; stop() still has to follow
    // Asks init to leave, waits as long as given, then kills. Returns when the processes are gone.
    void stop(std::int64_t graceMs = 200);

private:
    friend Result<std::unique_ptr<RunningSandbox>> launchSandbox(
        LaunchSpec spec, const LaunchTools& tools, fs::path spoolFolder);
    RunningSandbox() = default;

    pid_t m_pid = -1;
    UniqueFd m_pidFd;
    std::shared_ptr<InitClient> m_init;
};

// An id map in the spec that is empty becomes that of this user.
Result<std::unique_ptr<RunningSandbox>> launchSandbox(
    LaunchSpec spec, const LaunchTools& tools, fs::path spoolFolder = {});

struct MappedOutcome
{
    int code = -1;
    std::string output; // both streams
};

// Runs a program of this machine as root of the id map, working in the store: the way to unpack, copy and
// delete files that belong to the ids of a sandbox. A cancelled one is killed with what it started, and the
// outcome is the error "cancelled".
Result<MappedOutcome> runMapped(const fs::path& store, std::vector<std::string> command,
    const LaunchTools& tools, const std::map<std::string, std::string>& env = {},
    const std::function<void(std::string_view)>& onOutput = {},
    const std::function<bool()>& isCancelled = {});

// Makes the store if needed: 0700, and as root given to the root of the map.
Status prepareStore(const fs::path& store);

} // namespace gb
