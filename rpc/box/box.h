// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>

#include <rpc/launch/controlgroup.h>

#include "boxcommand.h"
#include "boxconfig.h"
#include "boxdisk.h"
#include "boxlimits.h"
#include "boxports.h"
#include "networkproxy.h"

namespace gb::rpc {

// Told of what happens in a sandbox; control connections are such.
class BoxObserver
{
public:
    BoxObserver() = default;
    BoxObserver(const BoxObserver&) = delete;
    BoxObserver& operator=(const BoxObserver&) = delete;
    virtual ~BoxObserver() = default;

    virtual void commandChanged(const BoxCommandPtr& command) = 0;
    virtual void ending(const char* reason, std::int64_t seconds) = 0;
    virtual void ended(const char* reason) = 0;
};

// One sandbox and its keeper's part of it: launched here, on the main thread, because it dies with the thread
// that started it. Nothing in the loop waits for the sandbox.
class Box
{
public:
    // Returns once process 1 inside has answered.
    static Result<std::unique_ptr<Box>> start(Loop& loop, BoxConfig config, fs::path socketFolder);
    ~Box();
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;

    Loop& loop() { return m_loop; }
    const BoxConfig& config() const { return m_config; }
    InitClient& init() { return m_running->init(); }
    BoxCommands& commands() { return *m_commands; }
    BoxPorts& ports() { return *m_ports; }
    BoxLimits& limits() { return *m_limits; }
    // Short questions to init, and transfers of files, which must not keep the former waiting.
    Background& threads() { return m_threads; }
    Background& transfers() { return m_transfers; }

    // How many processes the kernel has ended for their memory: of this sandbox where it has a group of its
    // own, else of the machine.
    std::int64_t memoryKills() const;

    Json hello() const;
    // The environment of a command; the secrets come with it where the sandbox gives them to commands.
    std::map<std::string, std::string> commandEnvironment() const;

    void observe(BoxObserver* observer) { m_observers.insert(observer); }
    void forget(BoxObserver* observer) { m_observers.erase(observer); }

    // Ends everything inside and returns when no process of it is left; then tells and leaves the loop.
    void end(const char* reason);

private:
    Box(Loop& loop, BoxConfig config);
    Status launch(const fs::path& spool);
    bool groupKeeps(ControlGroup::Limit limit) const { return m_group && m_group->keeps(limit); }
    LaunchSpec limitedLaunch() const;
    const char* cpuState() const;
    const char* endReason() const;
    Status openNetwork();
    void watchEnd();
    Status prepareFolders() const;

    Loop& m_loop;
    BoxConfig m_config;
    std::int64_t m_startedAt = 0;
    std::unique_ptr<ControlGroup> m_group; // before what runs in it, so that it goes after that
    std::unique_ptr<RunningSandbox> m_running;
    std::unique_ptr<NetworkProxy> m_network;
    std::int64_t m_killsSeen = 0; // those of commands that have ended since
    UniqueFd m_pidFd;
    bool m_ended = false;
    std::set<BoxObserver*> m_observers;
    Background m_threads;
    Background m_transfers;
    std::unique_ptr<BoxCommands> m_commands;
    std::unique_ptr<BoxPorts> m_ports;
    std::unique_ptr<BoxLimits> m_limits;
    std::unique_ptr<BoxDisk> m_disk;
};

} // namespace gb::rpc
