// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "boxconfig.h"
#include "inbackground.h"

namespace gb::rpc {

// What ends a sandbox without being asked: its timeout, nobody using it, more memory than it may have.
// Enforced here, daemon or not. Where the kernel does not keep its memory below the limit (a control group),
// it is looked at several times a second, so a burst between two looks is possible ("watched", not
// "enforced").
class BoxLimits
{
public:
    struct Handlers
    {
        std::function<bool()> inUse; // a command or a connection through a port is under way
        std::function<void(const char* reason, std::int64_t seconds)> warn;
        std::function<void(const char* reason)> end;
    };
    enum class Memory { Watched, Enforced }; // whose affair a limit of memory is

    BoxLimits(Loop& loop, const BoxConfig& config, Memory memory, InitClient& init, Background& threads,
        Handlers handlers);

    void used();
    void setBusy(bool busy) { m_busy += busy ? 1 : -1; } // for as long as calls of an interface run
    // Moves the end of the timeout; an error when there is none.
    Result<std::int64_t> extend(std::int64_t seconds);
    std::int64_t endsAt() const { return m_endsAt; } // wall clock in ms, 0: no timeout
    const char* memoryState() const;

private:
    void armTimeout();
    void armIdle(std::int64_t milliseconds);
    void watchMemory();

    Loop& m_loop;
    const BoxConfig& m_config;
    Memory m_memory;
    InitClient& m_init;
    Background& m_threads;
    Handlers m_handlers;
    std::int64_t m_endsAt = 0;
    std::int64_t m_lastUse = 0;
    std::uint64_t m_timeoutTimer = 0;
    bool m_warned = false;
    int m_busy = 0;
};

} // namespace gb::rpc
