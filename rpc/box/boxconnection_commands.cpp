// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <csignal>
#include <cstring>

#include <backend/base/json.h>

#include "boxconnection.h"

// Commands: start, follow, read again, feed, signal.
namespace gb::rpc {
namespace {

constexpr std::size_t pieceSize = 256U << 10U;
constexpr std::size_t mostBytes = 1U << 20U;
constexpr std::size_t outputAhead = 4U << 20U; // unsent bytes at which output waits in the spool
constexpr std::int64_t mostOutput = 1LL << 30;

Result<std::vector<std::string>> readArgv(const Json& params)
{
    if (const std::string script = stringOr(params, "script"); !script.empty())
        return std::vector<std::string>{"/bin/sh", "-c", script};
    std::vector<std::string> argv;
    const auto words = params.find("argv");
    if (words == params.end() || !words->is_array() || words->empty())
        return fail(
            "params.missing", "\"argv\" must be a list with at least the program, or give a \"script\"");
    for (const Json& word : *words) {
        if (!word.is_string())
            return fail("params.type", "\"argv\" must hold texts");
        argv.push_back(word.get<std::string>());
    }
    return argv;
}

Result<ExecSpec> readExec(const Json& params, std::map<std::string, std::string> environment)
{
    auto argv = readArgv(params);
    if (!argv)
        return fail(argv.error());
    ExecSpec spec;
    spec.argv = std::move(*argv);
    spec.env = std::move(environment);
    const Json env = objectOr(params, "env");
    for (const auto& [name, value] : env.items()) {
        if (!value.is_string())
            return fail("params.type", "\"env\" must map names to texts");
        spec.env[name] = value.get<std::string>();
    }
    spec.folder = stringOr(params, "cwd", "/workspace");
    spec.timeoutMs = std::max<std::int64_t>(0, integerOr(params, "timeout_ms"));
    const auto terminal = params.find("terminal");
    spec.terminal = terminal != params.end() && terminal->is_object();
    spec.input = spec.terminal || boolOr(params, "stdin");
    if (spec.terminal) {
        spec.rows =
            static_cast<int>(std::clamp<std::int64_t>(integerOr(*terminal, "rows", spec.rows), 1, 1000));
        spec.columns = static_cast<int>(
            std::clamp<std::int64_t>(integerOr(*terminal, "columns", spec.columns), 1, 1000));
        if (!spec.env.contains("TERM"))
            spec.env["TERM"] = "xterm-256color";
    }
    const std::int64_t limit = integerOr(params, "output_limit", static_cast<std::int64_t>(spec.outputLimit));
    spec.outputLimit = static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 0, mostOutput));
    return spec;
}

// 15, "SIGTERM" or "TERM".
int signalNumber(const Json& params)
{
    std::string name = stringOr(params, "signal");
    if (name.empty())
        return static_cast<int>(integerOr(params, "signal"));
    if (name.starts_with("SIG"))
        name.erase(0, 3);
    for (int number = 1; number < NSIG; ++number) {
        const char* known = ::sigabbrev_np(number);
        if (known && name == known)
            return number;
    }
    return 0;
}

} // namespace

BoxCommandPtr BoxConnection::findCommand(std::int64_t id, const Json& params)
{
    const std::string name = stringOr(params, "command");
    auto command = m_box.commands().find(name);
    if (!command)
        refuse(id, {"sandbox.no_command", "this sandbox has no command " + name, Json{{"command", name}}});
    return command;
}

void BoxConnection::exec(std::int64_t id, const Json& params, SharedText)
{
    auto spec = readExec(params, m_box.commandEnvironment());
    if (!spec)
        return refuse(id, spec.error());
    m_box.limits().used();
    m_box.commands().start(
        std::move(*spec), [weak = weak_from_this(), id](const Result<BoxCommandPtr>& started) {
            const auto self = weak.lock();
            if (!self || !self->m_socket->open())
                return; // it runs all the same
            if (!started)
                return self->refuse(id, started.error());
            const BoxCommandPtr& command = *started;
            self->answer(id, {{"command", command->id()}, {"pid", command->inside().pid()}});
            self->m_following[command->id()] = {command, {}};
        });
}

void BoxConnection::commandChanged(const BoxCommandPtr& command)
{
    const auto found = m_following.find(command->id());
    if (found != m_following.end())
        pump(found->second);
}

void BoxConnection::pumpAll()
{
    std::vector<std::string> ids;
    for (const auto& [id, following] : m_following)
        ids.push_back(id);
    for (const std::string& id : ids)
        pump(m_following.at(id));
}

// Only what the other side takes leaves the spool, so a slow reader costs no memory.
void BoxConnection::pump(Following& following)
{
    const BoxCommandPtr command = following.command;
    bool all = true;
    for (const char* stream : {"stdout", "stderr"}) {
        std::size_t& sent = following.sent[stream];
        while (m_socket->unsent() < outputAhead && sent < command->size(stream)) {
            std::string piece = command->inside().spool(stream).read(sent, pieceSize);
            if (piece.empty())
                break;
            const std::size_t size = piece.size();
            notify("box.output", {{"command", command->id()}, {"stream", stream}, {"offset", sent}},
                std::move(piece));
            sent += size;
        }
        all = all && sent >= command->size(stream);
    }
    if (!all || !command->exited())
        return;
    Json params{{"command", command->id()}};
    params.update(command->outcome());
    notify("box.exit", params);
    m_following.erase(command->id());
}

void BoxConnection::wait(std::int64_t id, const Json& params, SharedText)
{
    const auto command = findCommand(id, params);
    if (!command)
        return;
    const auto timer = std::make_shared<std::uint64_t>(0);
    const auto tell = [weak = weak_from_this(), command, id] {
        if (const auto self = weak.lock())
            self->answer(id, command->outcome());
    };
    Loop& loop = m_box.loop();
    const std::uint64_t waiting = command->onceExited([&loop, tell, timer] {
        loop.cancelTimer(*timer);
        tell();
    });
    const std::int64_t timeout = integerOr(params, "timeout_ms", -1);
    if (waiting == 0 || timeout < 0)
        return;
    *timer = loop.after(timeout, [command, waiting, tell] {
        command->waitNoMore(waiting);
        tell();
    });
}

void BoxConnection::output(std::int64_t id, const Json& params, SharedText)
{
    const auto command = findCommand(id, params);
    if (!command)
        return;
    const std::string stream = stringOr(params, "stream", "stdout");
    const std::int64_t from = integerOr(params, "from");
    const std::int64_t limit = integerOr(params, "limit", mostBytes);
    if ((stream != "stdout" && stream != "stderr") || from < 0 || limit < 0)
        return refuse(
            id, {"params.range", "\"stream\" is stdout or stderr, \"from\" and \"limit\" not negative"});
    const OutputSpool& spool = command->inside().spool(stream);
    // Taken before the bytes: what says "exited" must not hide bytes that came since.
    const Json result{
        {"from", from}, {"size", spool.size()}, {"dropped", spool.dropped()}, {"exited", command->exited()}};
    answer(id, result,
        spool.read(static_cast<std::size_t>(from), std::min(static_cast<std::size_t>(limit), mostBytes)));
}

void BoxConnection::commands(std::int64_t id, const Json&, SharedText)
{
    answer(id, {{"commands", m_box.commands().list()}});
}

void BoxConnection::input(std::int64_t id, const Json& params, SharedText attachment)
{
    const auto command = findCommand(id, params);
    if (!command)
        return;
    m_box.limits().used();
    command->write(
        std::move(attachment), boolOr(params, "eof"), [weak = weak_from_this(), id](const Status& taken) {
            const auto self = weak.lock();
            if (!self)
                return;
            if (taken)
                self->answer(id, Json::object());
            else
                self->refuse(id, taken.error());
        });
}

void BoxConnection::signal(std::int64_t id, const Json& params, SharedText)
{
    const int number = signalNumber(params);
    if (number <= 0 || number >= NSIG)
        return refuse(id, {"params.range", "\"signal\" must be a signal's number or name"});
    if (const auto command = findCommand(id, params))
        ask(
            m_box.threads(), id, [inside = command, number] { return inside->inside().signal(number); },
            [id](BoxConnection& self, const Status&) { self.answer(id, Json::object()); });
}

void BoxConnection::resize(std::int64_t id, const Json& params, SharedText)
{
    const auto rows = static_cast<int>(std::clamp<std::int64_t>(integerOr(params, "rows"), 1, 1000));
    const auto columns = static_cast<int>(std::clamp<std::int64_t>(integerOr(params, "columns"), 1, 1000));
    if (const auto command = findCommand(id, params))
        ask(
            m_box.threads(), id, [command, rows, columns] { return command->inside().resize(rows, columns); },
            [id](BoxConnection& self, const Status&) { self.answer(id, Json::object()); });
}

} // namespace gb::rpc
