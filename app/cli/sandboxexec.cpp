// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxexec.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <unistd.h>

#include <QSocketNotifier>

#include "command.h"
#include "endwarning.h"
#include "sandboxflags.h"
#include "session.h"
#include "terminal.h"

namespace gb::cli {
namespace {

// With --json output is kept until the end; more than this of a stream is only counted.
constexpr std::size_t keptOutput = 32U << 20U;

void writeAll(int fd, const char* data, std::size_t size)
{
    while (size > 0) {
        const ssize_t written = ::write(fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; // nobody reads any more; the command itself goes on
        data += written;
        size -= static_cast<std::size_t>(written);
    }
}

class RemoteCommand
{
public:
    RemoteCommand(Session& session, std::string sandbox, Console& console)
        : m_session(session), m_sandbox(std::move(sandbox)), m_console(console)
    {
        // Before the request: a short command may have ended when its answer is read.
        QObject::connect(&session.client(), &api::Client::notified, &m_guard,
            [this](const QString& method, const Json& params, const QByteArray& bytes) {
                onNotified(method.toStdString(), params, bytes);
            });
        QObject::connect(&session.client(), &api::Client::disconnected, &m_guard,
            [this](const Error& error) { m_lost = error; });
    }

    Status start(Json params)
    {
        const bool hasInput = boolOr(params, "stdin");
        params["sandbox"] = m_sandbox;
        const auto answer = m_session.call("sandboxes.exec", std::move(params));
        if (!answer)
            return fail(answer.error());
        m_command = answer->body.value("command", Json());
        if (hasInput)
            startInput();
        return {};
    }

    // The first Ctrl+C is the command's, the second kills it, the third only leaves.
    Status wait()
    {
        const auto isOver = [this] { return m_exit.has_value() || m_lost.has_value(); };
        for (const int signal : {SIGINT, SIGKILL}) {
            if (m_session.waitUntil(isOver))
                break;
            forgetInterrupt();
            send("sandboxes.signal", Json{{"signal", signal}});
        }
        GB_TRY(m_session.waitUntil(isOver));
        if (!m_exit)
            return fail(*m_lost);
        return {};
    }

    void resize()
    {
        const auto size = RawTerminal::size();
        send("sandboxes.resize", Json{{"rows", size.rows}, {"columns", size.columns}});
    }

    int exitCode() const { return static_cast<int>(integerOr(*m_exit, "code")); }
    bool hasTimedOut() const { return boolOr(*m_exit, "timed_out"); }
    std::int64_t dropped() const { return integerOr(*m_exit, "dropped"); }
    Json outcome() const
    {
        return Json{{"command", m_command}, {"code", exitCode()}, {"signal", m_exit->value("signal", Json())},
            {"timed_out", hasTimedOut()}, {"stdout", m_stdout}, {"stderr", m_stderr}, {"dropped", dropped()}};
    }

private:
    void onNotified(const std::string& method, const Json& params, const QByteArray& bytes)
    {
        // One command per run of this program, so what comes is its.
        if (method == "sandboxes.output") {
            const bool isError = stringOr(params, "stream") == "stderr";
            if (m_console.json()) {
                std::string& kept = isError ? m_stderr : m_stdout;
                kept.append(bytes.constData(),
                    std::min(static_cast<std::size_t>(bytes.size()), keptOutput - kept.size()));
            } else {
                writeAll(isError ? STDERR_FILENO : STDOUT_FILENO, bytes.constData(),
                    static_cast<std::size_t>(bytes.size()));
            }
        } else if (method == "sandboxes.exit") {
            m_exit = params;
        }
    }

    void startInput()
    {
        m_input = std::make_unique<QSocketNotifier>(STDIN_FILENO, QSocketNotifier::Read);
        QObject::connect(m_input.get(), &QSocketNotifier::activated, &m_guard, [this] { forwardInput(); });
    }

    // One piece at a time: the next is read when the sandbox has taken the last.
    void forwardInput()
    {
        std::array<char, 65536> buffer{};
        const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        m_input->setEnabled(false);
        const bool isEnd = count <= 0;
        Json params = isEnd ? Json{{"eof", true}} : Json::object();
        params["sandbox"] = m_sandbox;
        params["command"] = m_command;
        m_session.client().call(
            &m_guard, "sandboxes.stdin", std::move(params),
            [this, isEnd](const Result<api::Client::Answer>& answer) {
                m_input->setEnabled(answer.has_value() && !isEnd);
            },
            std::string(buffer.data(), isEnd ? 0 : static_cast<std::size_t>(count)));
    }

    void send(const std::string& method, Json params)
    {
        params["sandbox"] = m_sandbox;
        params["command"] = m_command;
        m_session.client().call(
            &m_guard, method, std::move(params), [](const Result<api::Client::Answer>&) {});
    }

    QObject m_guard;
    Session& m_session;
    std::string m_sandbox;
    Console& m_console;
    Json m_command;
    std::unique_ptr<QSocketNotifier> m_input;
    std::optional<Json> m_exit;
    std::optional<Error> m_lost;
    std::string m_stdout;
    std::string m_stderr;
};

Result<Json> execParams(const Arguments& arguments)
{
    const auto& words = arguments.positional();
    if (words.size() < 2)
        return fail("usage", "give a sandbox and a command: glovebox sandbox exec NAME python3 --version");
    // Standard input that is not there is no input, not an end of it.
    Json params{{"argv", std::vector<std::string>(words.begin() + 1, words.end())},
        {"stdin", !arguments.has("--no-input")}};
    if (arguments.has("--cwd"))
        params["cwd"] = arguments.value("--cwd");
    if (arguments.has("--timeout")) {
        const auto seconds = parseSeconds(arguments.value("--timeout"));
        if (!seconds)
            return fail(seconds.error());
        params["timeout_ms"] = *seconds * 1000;
    }
    for (const std::string& word : arguments.values("--env")) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail("usage", "--env takes NAME=VALUE, not \"" + word + "\"");
        params["env"][word.substr(0, equals)] = word.substr(equals + 1);
    }
    if (arguments.has("--terminal")) {
        const auto size = RawTerminal::size();
        params["terminal"] = Json{{"rows", size.rows}, {"columns", size.columns}};
        if (const char* kind = std::getenv("TERM"); kind && !params["env"].contains("TERM"))
            params["env"]["TERM"] = kind;
    }
    return params;
}

} // namespace

int execInSandbox(const Arguments& arguments, Console& console)
{
    auto params = execParams(arguments);
    if (!params)
        return console.fail(params.error());
    if (arguments.has("--terminal") && console.json())
        return console.fail(Error{"usage", "--terminal and --json do not go together"});
    Session session;
    RemoteCommand command(session, arguments.positional().front(), console);
    if (const Status started = command.start(std::move(*params)); !started)
        return console.fail(started.error());
    const EndWarning warning(session, arguments.positional().front(), console,
        arguments.has("--terminal") ? EndWarning::Screen::Raw : EndWarning::Screen::Lines);
    Status ended;
    {
        std::optional<RawTerminal> raw;
        QObject guard;
        if (arguments.has("--terminal")) {
            raw.emplace();
            RawTerminal::onResize(&guard, [&command] { command.resize(); });
        }
        ended = command.wait();
    }
    if (!ended)
        return console.fail(ended.error());
    if (console.json())
        console.printLine(command.outcome());
    if (command.dropped() > 0)
        console.note("glovebox: " + bytes(command.dropped()) + " of output were over the limit and are lost");
    if (command.hasTimedOut())
        console.note("glovebox: the command ran past its time limit and was ended");
    return command.exitCode();
}

} // namespace gb::cli
