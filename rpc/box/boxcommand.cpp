// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxcommand.h"

#include <algorithm>

#include <backend/base/clock.h>

namespace gb::rpc {
namespace {

// Each open output file is a descriptor, and a keeper may have 1024.
constexpr std::size_t mostRunning = 128;
constexpr std::size_t mostKept = 256;
constexpr std::size_t mostInputs = 64;

} // namespace

Json BoxCommand::describe() const
{
    Json json{{"command", id()}, {"pid", m_command->pid()}, {"argv", m_argv}, {"started_at", m_startedAt},
        {"terminal", m_terminal}, {"exited", m_exited}};
    if (m_exited)
        json["code"] = m_record ? m_record->code : -1;
    return json;
}

Json BoxCommand::outcome() const
{
    Json json{{"exited", m_exited}, {"code", m_exited && m_record ? m_record->code : -1},
        {"signal", m_exited && m_record ? m_record->signal : 0},
        {"timed_out", m_exited && m_record && m_record->timedOut}, {"dropped", dropped()},
        {"sizes", {{"stdout", size("stdout")}, {"stderr", size("stderr")}}}};
    if (m_exited && !m_record)
        json["error"] = m_record.error().toJson();
    return json;
}

std::uint64_t BoxCommand::onceExited(std::function<void()> then)
{
    if (m_exited) {
        then();
        return 0;
    }
    m_waiting[m_nextWaiting] = std::move(then);
    return m_nextWaiting++;
}

void BoxCommand::write(SharedText bytes, bool endOfInput, std::function<void(const Status&)> done)
{
    if (m_input.size() >= mostInputs)
        return done(fail("sandbox.busy", "the command has not taken the input sent before"));
    m_input.push_back({std::move(bytes), 0, endOfInput, std::move(done)});
    pumpInput();
}

void BoxCommand::pumpInput()
{
    m_roomMeanwhile = m_writing;
    if (m_writing || m_input.empty())
        return;
    m_writing = true;
    const Input& first = m_input.front();
    inBackground(
        m_threads,
        [command = m_command, text = first.bytes, from = first.sent,
            last = first.last]() -> Result<std::size_t> {
            const std::string_view rest = text.view().substr(from);
            auto sent = command->writeSome(rest);
            if (sent && *sent == rest.size() && last)
                GB_TRY(command->closeInput());
            return sent;
        },
        [self = shared_from_this()](const Result<std::size_t>& sent) { self->inputMoved(sent); });
}

void BoxCommand::inputMoved(const Result<std::size_t>& sent)
{
    m_writing = false;
    Input& first = m_input.front();
    if (sent)
        first.sent += *sent;
    const bool done = !sent || first.sent == first.bytes.size();
    if (done) {
        const auto tell = std::move(first.done);
        m_input.pop_front();
        tell(sent ? Status() : Status(fail(sent.error())));
    }
    // Without room the next credit goes on, unless it came while this was under way.
    if (done || *sent > 0 || std::exchange(m_roomMeanwhile, false))
        pumpInput();
}

void BoxCommand::end()
{
    auto record = m_command->wait(0);
    if (m_exited || !record)
        return;
    m_exited = true;
    m_record = std::move(*record);
    pumpInput(); // tells whoever still waits to write that nobody reads
    std::map<std::uint64_t, std::function<void()>> waiting;
    waiting.swap(m_waiting);
    for (const auto& [number, then] : waiting)
        then();
}

void BoxCommands::start(ExecSpec spec, std::function<void(const Result<BoxCommandPtr>&)> started)
{
    if (running() + m_starting >= mostRunning)
        return started(
            fail("sandbox.busy", "this sandbox already runs " + std::to_string(mostRunning) + " commands",
                Json{{"limit", mostRunning}}));
    ++m_starting;
    BoxCommandPtr command(new BoxCommand(m_threads));
    command->m_argv = spec.argv;
    command->m_terminal = spec.terminal;
    command->m_startedAt = wallMs();
    const std::weak_ptr<BoxCommand> weak = command;
    const auto changed = [this, weak] {
        const auto self = weak.lock();
        if (self && !self->m_told.exchange(true))
            m_loop.post([this, self] { look(self); });
    };
    spec.outputInRecord = false;
    spec.onOutput = [changed](std::string_view, std::string_view) { changed(); };
    spec.onEnd = changed;
    spec.onInputRoom = [this, weak] {
        m_loop.post([weak] {
            if (const auto self = weak.lock(); self && self->m_command)
                self->pumpInput();
        });
    };
    inBackground(
        m_threads, [init = &m_init, spec = std::move(spec)] { return init->start(spec); },
        [this, command, started = std::move(started)](Result<std::shared_ptr<SandboxCommand>> inside) {
            --m_starting;
            if (!inside)
                return started(fail(inside.error()));
            command->m_command = std::move(*inside);
            add(command);
            started(command);
            look(command);
        });
}

void BoxCommands::add(const BoxCommandPtr& command)
{
    m_commands.push_back(command);
    if (m_commands.size() > mostKept)
        forgetOldest();
}

void BoxCommands::forgetOldest()
{
    const auto oldest =
        std::find_if(m_commands.begin(), m_commands.end(), [](const auto& item) { return item->exited(); });
    if (oldest == m_commands.end())
        return;
    std::error_code ignored;
    for (const char* stream : {".stdout", ".stderr"})
        fs::remove(m_folder / ((*oldest)->id() + stream), ignored);
    m_commands.erase(oldest);
}

// Output, or the end, or both: what came before is looked at in one go.
void BoxCommands::look(const BoxCommandPtr& command)
{
    if (!command->m_command)
        return; // starting; looked at when it is there
    command->m_told = false;
    command->end();
    m_onChange(command);
}

BoxCommandPtr BoxCommands::find(const std::string& id) const
{
    const auto found = std::find_if(
        m_commands.begin(), m_commands.end(), [&id](const auto& item) { return item->id() == id; });
    return found == m_commands.end() ? nullptr : *found;
}

std::size_t BoxCommands::running() const
{
    return static_cast<std::size_t>(std::count_if(
        m_commands.begin(), m_commands.end(), [](const auto& item) { return !item->exited(); }));
}

Json BoxCommands::list() const
{
    Json list = Json::array();
    for (const BoxCommandPtr& command : m_commands)
        list.push_back(command->describe());
    return list;
}

} // namespace gb::rpc
