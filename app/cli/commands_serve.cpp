// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QProcess>

#include <backend/base/paths.h>

#include "command.h"
#include "serve.h"
#include "session.h"

namespace gb::cli {
namespace {

// One glovebox-host as a child: configured over its standard input, which stays open, because the host ends
// when it closes. Its first line of output is the ready line, its standard error is the log.
class HostProcess
{
public:
    Status start(const Json& config)
    {
        m_process.setProgram(QString::fromStdString((programFolder() / "glovebox-host").string()));
        m_process.setArguments({QStringLiteral("--config-fd"), QStringLiteral("0")});
        m_process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_process.start();
        if (!m_process.waitForStarted(5000))
            return fail("serve.host", "cannot start glovebox-host: " + m_process.errorString().toStdString());
        const std::string line = config.dump() + "\n";
        m_process.write(line.data(), static_cast<qint64>(line.size()));
        return {};
    }

    Result<Json> waitReady(Session& session)
    {
        GB_TRY(session.waitUntil([this] { return m_process.canReadLine() || ended(); }));
        if (!m_process.canReadLine())
            return fail("serve.host", "glovebox-host ended before it was ready; its log stands above");
        return parseJson(m_process.readLine().toStdString());
    }

    bool ended() const { return m_process.state() == QProcess::NotRunning; }
    int exitCode() const { return m_process.exitCode(); }

    void stop()
    {
        m_process.closeWriteChannel();
        m_process.terminate();
        if (!m_process.waitForFinished(10'000))
            m_process.kill();
        m_process.waitForFinished(2000);
    }

private:
    QProcess m_process;
};

void announce(const Json& ready, Console& console)
{
    if (console.json() || !ready.contains("functions")) {
        console.printLine(ready);
        return;
    }
    console.printLine(ready);
    const Json functions = ready.value("functions", Json::array());
    console.note(std::to_string(functions.size())
        + " functions served; see them in the window's inspector, or: "
          "glovebox calls run FUNCTION name=value…   (Ctrl+C ends)");
}

int serve(const Arguments& arguments, Console& console)
{
    const auto config = hostConfiguration(arguments);
    if (!config)
        return console.fail(config.error());
    catchInterrupts();
    Session session;
    HostProcess host;
    if (const Status started = host.start(*config); !started)
        return console.fail(started.error());
    const auto ready = host.waitReady(session);
    if (!ready) {
        host.stop();
        return console.fail(ready.error());
    }
    if (!arguments.has("--no-daemon")) {
        const auto registered =
            session.call("interfaces.register", Json{{"control", stringOr(*ready, "control")}});
        if (!registered && registered.error().code != "interrupted")
            console.error("the daemon does not know of this interface: " + registered.error().message
                + " (calls are kept and handed over later)");
    }
    announce(*ready, console);
    const Status waited = session.waitUntil([&host] { return host.ended(); });
    if (waited) {
        console.error("glovebox-host ended by itself with code " + std::to_string(host.exitCode()));
        return Failed;
    }
    host.stop();
    return Done;
}

int check(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one interface file"});
    const auto python = choosePython(arguments.value("--python"));
    if (!python)
        return console.fail(python.error());
    QProcess process;
    QStringList words{QString::fromStdString((shareFolder() / "worker/glovebox_worker/check.py").string()),
        QString::fromStdString(arguments.positional().front())};
    if (console.json())
        words << QStringLiteral("--json");
    process.setProcessChannelMode(QProcess::ForwardedChannels);
    process.start(QString::fromStdString(*python), words);
    process.waitForFinished(-1);
    return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : Failed;
}

int serveOrCheck(const Arguments& arguments, Console& console)
{
    return arguments.has("--check") ? check(arguments, console) : serve(arguments, console);
}

} // namespace

std::vector<Command> serveCommands()
{
    return {
        {"serve", "FILE", "Serve an interface file's exposed functions from this machine, without a sandbox",
            {{"--name", "NAME", "what the interface is called (the file's name)"},
                {"--port", "N", "on this port of 127.0.0.1 (any free one)"},
                {"--socket", "PATH", "on a UNIX socket instead"},
                {"--python", "PY", "the Python that runs it (the one of your environment)"},
                {"--model", "ID=FOLDER", "a model it may ask for", true},
                {"--env", "NAME", "hand over this variable of yours", true},
                {"--watch", "", "load it again when the file changes"},
                {"--compat", "", "also print an address for clients of the original format"},
                {"--no-daemon", "", "keep calls in a file for the next daemon"},
                {"--check", "", "load nothing, only say what would go wrong"}},
            serveOrCheck},
    };
}

} // namespace gb::cli
