// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <backend/base/fd.h>
#include <backend/base/result.h>

#include "loop.h"
#include "worker_home.h"

namespace gb::rpc {

// How a worker process ended, in words for people and numbers for programs.
struct WorkerExit
{
    int code = 0;
    int signal = 0;
    bool outOfMemory = false; // the kernel ended it to get memory back
    std::int64_t mostMemory = 0; // bytes it held at a time
    bool sandboxGone = false; // with the sandbox it lived in
    std::vector<std::string> lastLines; // of its standard error

    std::string sentence() const;
    Json toJson() const;
};

// How many processes the kernel has ended for their memory, in every group of this machine.
std::int64_t memoryKills();

// What a process last said on its standard error.
class LastLines
{
public:
    void add(std::string_view text);
    std::vector<std::string> lines() const { return {m_lines.begin(), m_lines.end()}; }

private:
    std::deque<std::string> m_lines;
    bool m_open = false;
};

// A worker process beside us: the child, its pipes and its end.
class WorkerProcess : public WorkerHome
{
public:
    // link is the worker's end of the socket pair; it becomes the descriptor named in its argv.
    static Result<std::unique_ptr<WorkerProcess>> start(
        Loop& loop, const std::string& python, const std::string& package, UniqueFd link, Handlers handlers);
    ~WorkerProcess() override;

    int pid() const override { return m_pid; }
    void kill(int signal) override;
    void killRest() override;

private:
    struct Pipe
    {
        const char* name = "";
        UniqueFd fd;
        std::uint64_t watch = 0;
    };

    WorkerProcess(Loop& loop, Handlers handlers) : m_loop(loop), m_handlers(std::move(handlers)) { }

    void watchPipe(Pipe& pipe, const char* name, UniqueFd fd);
    void drain(Pipe& pipe);
    void reap();

    Loop& m_loop;
    Handlers m_handlers;
    int m_pid = -1;
    UniqueFd m_pidfd;
    std::uint64_t m_pidWatch = 0;
    Pipe m_out;
    Pipe m_err;
    LastLines m_lastLines;
    bool m_killed = false; // by us
    std::int64_t m_memoryKills = 0; // of the machine, when this process began
};

} // namespace gb::rpc
