// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string_view>

#include <backend/base/result.h>

namespace gb::rpc {

struct WorkerExit;

// Where a worker's process lives: a child of ours (worker_process.h) or a process inside a sandbox
// (worker_box.h).
class WorkerHome
{
public:
    struct Handlers
    {
        std::function<void(const char* stream, std::string_view text)> output;
        std::function<void(const WorkerExit&)> exited; // once, after everything it printed
    };

    WorkerHome() = default;
    WorkerHome(const WorkerHome&) = delete;
    WorkerHome& operator=(const WorkerHome&) = delete;
    virtual ~WorkerHome() = default; // ends the process

    virtual int pid() const = 0;
    virtual void kill(int signal) = 0;
    virtual void killRest() = 0; // it seems to be ending by itself: whatever is left of it goes too
    // Told before the worker reads the interface file again; done once what is outside stands where it reads.
    virtual void bringFile(std::function<void(const Status&)> done) { done({}); }
    // Whether calls are under way.
    virtual void setBusy(bool) { }
};

} // namespace gb::rpc
