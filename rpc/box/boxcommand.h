// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rpc/keeper/sharedtext.h>
#include <rpc/launch/initclient.h>

#include "inbackground.h"

namespace gb::rpc {

// A command in the sandbox as the keeper knows it. It belongs to nobody's connection: its output lies in the
// spool, and its outcome stays until newer commands push it out. Everything here runs in the loop.
class BoxCommand : public std::enable_shared_from_this<BoxCommand>
{
public:
    const std::string& id() const { return m_command->id(); }
    SandboxCommand& inside() const { return *m_command; }
    bool terminal() const { return m_terminal; }

    bool exited() const { return m_exited; }
    bool isLost() const { return m_exited && !m_record; } // with the sandbox, nobody saw its end
    std::size_t size(std::string_view stream) const { return m_command->spool(stream).size(); }
    std::size_t dropped() const
    {
        return m_command->spool("stdout").dropped() + m_command->spool("stderr").dropped();
    }
    Json describe() const; // one entry of box.commands
    Json outcome() const; // what box.wait answers

    // Told once the bytes are on their way inside (and the end of the input behind them).
    void write(SharedText bytes, bool endOfInput, std::function<void(const Status&)> done);
    // Zero when it has exited already, and then told at once.
    std::uint64_t onceExited(std::function<void()> then);
    void waitNoMore(std::uint64_t waiting) { m_waiting.erase(waiting); }

private:
    friend class BoxCommands;
    struct Input
    {
        SharedText bytes;
        std::size_t sent = 0;
        bool last = false;
        std::function<void(const Status&)> done;
    };

    explicit BoxCommand(Background& threads) : m_threads(threads) { }
    void pumpInput();
    void inputMoved(const Result<std::size_t>& sent);
    void end();

    Background& m_threads;
    std::shared_ptr<SandboxCommand> m_command;
    std::vector<std::string> m_argv;
    std::int64_t m_startedAt = 0;
    bool m_terminal = false;
    bool m_exited = false;
    Result<ExecRecord> m_record;
    std::atomic<bool> m_told = false; // that it changed; whoever looks clears it first
    std::deque<Input> m_input;
    bool m_writing = false;
    bool m_roomMeanwhile = false;
    std::map<std::uint64_t, std::function<void()>> m_waiting;
    std::uint64_t m_nextWaiting = 1;
};
using BoxCommandPtr = std::shared_ptr<BoxCommand>;

// The commands of a sandbox: bounded in number, the oldest ended ones are forgotten with their output.
class BoxCommands
{
public:
    using ChangeHandler = std::function<void(const BoxCommandPtr&)>;

    BoxCommands(Loop& loop, InitClient& init, Background& threads, fs::path folder, ChangeHandler onChange)
        : m_loop(loop), m_init(init), m_threads(threads), m_folder(std::move(folder)),
          m_onChange(std::move(onChange))
    { }

    void start(ExecSpec spec, std::function<void(const Result<BoxCommandPtr>&)> started);
    BoxCommandPtr find(const std::string& id) const;
    std::size_t running() const;
    Json list() const;

private:
    void add(const BoxCommandPtr& command);
    void forgetOldest();
    void look(const BoxCommandPtr& command);

    Loop& m_loop;
    InitClient& m_init;
    Background& m_threads;
    fs::path m_folder;
    ChangeHandler m_onChange;
    std::vector<BoxCommandPtr> m_commands; // by age
    std::size_t m_starting = 0;
};

} // namespace gb::rpc
