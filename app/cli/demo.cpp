// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "demo.h"

#include <algorithm>
#include <sstream>

#include <QProcess>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/paths.h>
#include <backend/experiments/experimentfolder.h>

#include "sandboxstart.h"
#include "serve.h"

namespace gb::cli {
namespace {

constexpr const char* mcpVersion = "2025-06-18";

std::vector<std::string> linesOf(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::string joinedNames(const Json& items)
{
    std::string text;
    for (const Json& item : items)
        text += (text.empty() ? "" : ", ") + stringOr(item, "name");
    return text;
}

// A call as a person reads it: greet(name="Ada").
std::string callText(const Json& call)
{
    std::string text;
    const Json arguments = objectOr(call, "arguments");
    for (const auto& [name, value] : arguments.items())
        text += (text.empty() ? "" : ", ") + name + "=" + value.dump();
    return stringOr(call, "function") + "(" + text + ")";
}

Json message(int id, const std::string& method, Json params)
{
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

std::string since(std::int64_t begin)
{
    return duration(monotonicNs() - begin);
}

} // namespace

Demo::Demo(Session& session, Console& console, const Arguments& arguments)
    : m_session(session), m_console(console), m_arguments(arguments), m_begin(monotonicNs())
{ }

void Demo::say(std::string_view label, std::string_view text)
{
    if (m_console.json())
        return;
    std::string left(label);
    left.resize(std::max<std::size_t>(left.size() + 1, 12), ' ');
    m_console.out(m_console.painted("1", left) + printable(text) + "\n");
}

Result<std::string> Demo::output(const std::string& program, const std::vector<std::string>& words,
    const std::vector<std::pair<std::string, std::string>>& environment, const Input& input)
{
    QProcess process;
    QStringList arguments;
    for (const std::string& word : words)
        arguments << QString::fromStdString(word);
    QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
    for (const auto& [name, value] : environment)
        variables.insert(QString::fromStdString(name), QString::fromStdString(value));
    process.setProcessEnvironment(variables);
    process.start(QString::fromStdString(program), arguments);
    QByteArray out;
    const auto read = [&] {
        out += process.readAllStandardOutput();
        return process.state() == QProcess::NotRunning || out.count('\n') >= input.answers;
    };
    process.write(input.text.data(), static_cast<qint64>(input.text.size()));
    if (input.answers > 0)
        GB_TRY(m_session.waitUntil(read));
    process.closeWriteChannel();
    GB_TRY(m_session.waitUntil([&process] { return process.state() == QProcess::NotRunning; }));
    out += process.readAllStandardOutput();
    if (process.error() == QProcess::FailedToStart || process.exitCode() != 0)
        return fail("demo.program",
            program + " failed: " + process.errorString().toStdString() + "\n"
                + process.readAllStandardError().toStdString());
    return out.toStdString();
}

Status Demo::chooseExample()
{
    m_example = m_arguments.positional().empty() ? "hello" : m_arguments.positional().front();
    for (const ExampleInfo& info : examples()) {
        if (info.name != m_example)
            continue;
        const auto text = readFile(info.folder / "example.json");
        auto about = text ? parseJson(*text) : Result<Json>(fail(text.error()));
        if (!about)
            return fail(about.error());
        m_about = std::move(*about);
        say("Example", m_example + ": " + stringOr(m_about, "title"));
        return {};
    }
    std::string names;
    for (const ExampleInfo& info : examples())
        names += (names.empty() ? "" : ", ") + info.name;
    return fail(
        "experiments.no_example", "there is no example called " + m_example + "; there are: " + names);
}

// What was said with --model; none: the smallest that is whole in the cache.
Json Demo::wantedModel() const
{
    const std::string wanted = m_arguments.value("--model");
    const auto equals = wanted.find('=');
    if (wanted.empty())
        return {};
    if (equals == std::string::npos)
        return Json{{"name", wanted}};
    return Json{{"name", wanted.substr(0, equals)},
        {"path", fs::absolute(wanted.substr(equals + 1)).lexically_normal().string()}};
}

// Said before anything is made, with what to do about it.
Status Demo::checkModules()
{
    std::vector<std::string> words{
        "-c", "import importlib.util as u, sys; print(*[m for m in sys.argv[1:] if not u.find_spec(m)])"};
    for (const Json& name : m_about.value("modules", Json::array()))
        words.push_back(name.get<std::string>());
    if (words.size() == 2)
        return {};
    const auto found = output(m_python, words, {}, {});
    if (!found)
        return fail(found.error());
    const std::string missing = found->substr(0, found->find_last_not_of(" \r\n") + 1);
    if (missing.empty())
        return {};
    return fail("example.modules",
        "the example " + m_example + " needs " + missing + ", which " + m_python
            + " does not have; name another Python: glovebox demo " + m_example + " --python PY");
}

// Experiment, sandbox and interface as the window makes them from its Home page, but in a folder of the
// demo's own that nobody is shown.
Status Demo::start()
{
    GB_TRY(checkModules());
    GB_TRY(m_session.connect());
    const std::int64_t begin = monotonicNs();
    std::int64_t started = begin;
    m_folder = dataFolder() / "demo" / newId();
    const auto experiment = newExperiment(m_folder, newId(), m_example);
    if (!experiment)
        return fail(experiment.error());
    api::ExampleStart example(m_session.client(),
        {m_example, m_about, m_folder.string(), true, true, "demo-" + newId().substr(24, 6), m_python,
            !m_arguments.has("--python"), wantedModel()});
    StepLines lines(m_console);
    QObject::connect(&example, &api::ExampleStart::moved, &example, [&](const Json& step) {
        lines.show(step);
        if (stringOr(step, "step") == "interface")
            started = monotonicNs();
    });
    example.start();
    if (!m_session.waitUntil([&example] { return example.isFinished(); })) {
        forgetInterrupt();
        m_console.note("Cancelling; what was started is taken down.");
        example.cancel();
        (void)m_session.waitUntil([&example] { return example.isFinished(); });
    }
    lines.end();
    m_sandbox = example.outcome().sandbox;
    m_interface = example.outcome().interface;
    if (example.error())
        return fail(*example.error());
    return tellStart(example.outcome(), begin, started);
}

Status Demo::tellStart(const api::ExampleStart::Outcome& made, std::int64_t begin, std::int64_t started)
{
    const auto sandbox = m_session.call("sandboxes.get", Json{{"sandbox", m_sandbox}});
    const auto schema = m_session.call("interfaces.schema", Json{{"interface", m_interface}});
    if (!sandbox || !schema)
        return fail(sandbox ? schema.error() : sandbox.error());
    const std::string name = stringOr(sandbox->body, "name");
    m_story["sandbox"] = name;
    m_story["python"] = made.interpreter.empty() ? "image" : made.interpreter;
    if (!made.model.empty())
        say("Model", made.model);
    say("Sandbox",
        name + " started in " + duration(started - begin) + ": isolated, no network, with "
            + (made.interpreter.empty() ? std::string("an image of its own") : "your " + made.interpreter));
    const Json functions = objectOr(schema->body, "schema").value("functions", Json::array());
    m_story["functions"] = functions.size();
    say("Interface",
        std::to_string(functions.size()) + " functions served in it after " + since(started) + ": "
            + joinedNames(functions));
    return {};
}

// Until its host has gone.
void Demo::waitForTheEnd()
{
    m_session.client().watch({"interfaces"});
    (void)m_session.waitUntil([&] {
        const Json& items = m_session.client().items("interfaces");
        const std::string state =
            items.contains(m_interface) ? stringOr(items[m_interface], "state") : std::string();
        return state.empty() || state == "failed" || state == "gone";
    });
}

Status Demo::callByHand()
{
    const Json wanted = objectOr(m_about, "by_hand");
    say("By hand", callText(wanted));
    QObject guard;
    Json progress = Json::array();
    QObject::connect(&m_session.client(), &api::Client::notified, &guard,
        [&](const QString& method, const Json& params, const QByteArray&) {
            if (method != QStringLiteral("calls.event") || stringOr(params, "event") != "progress")
                return;
            progress.push_back(stringOr(params, "message"));
            say("",
                "  progress " + params.value("done", Json()).dump() + " of "
                    + params.value("total", Json()).dump() + "  " + stringOr(params, "message"));
        });
    const auto record = m_session.call("calls.run",
        Json{{"interface", m_interface}, {"fn", stringOr(wanted, "function")}, {"args", Json::array()},
            {"kwargs", objectOr(wanted, "arguments")}});
    if (!record)
        return fail(record.error());
    if (stringOr(record->body, "state") != "ok")
        return fail("demo.call", "the call failed: " + stringOr(objectOr(record->body, "error"), "message"));
    say("", "  " + record->attachment);
    m_story["by_hand"] = Json{{"progress", progress}, {"result", record->attachment}};
    return {};
}

// As a person would on the command line.
Result<std::string> Demo::exposeAs(const std::string& form)
{
    const fs::path folder = m_folder / form;
    std::error_code error;
    fs::create_directories(folder, error);
    GB_TRY(output((programFolder() / "glovebox").string(),
        {"expose", m_interface, "--as", form, "--for", form == "library" ? "script" : "agent", "--name",
            stringOr(m_about, "library"), "--out", folder.string()},
        {}, {}));
    return folder.string();
}

Status Demo::callByScript()
{
    const auto library = exposeAs("library");
    if (!library)
        return fail(library.error());
    const auto said = output(m_python, {(m_folder / "try_it.py").string()},
        {{"PYTHONPATH", *library}, {"PYTHONIOENCODING", "utf-8"}, {"PYTHONDONTWRITEBYTECODE", "1"}}, {});
    if (!said)
        return fail(said.error());
    say("Script", "import " + stringOr(m_about, "library") + "   (a generated module, in a plain python3)");
    for (const std::string& line : linesOf(*said))
        say("", "  " + line);
    m_story["script"] = linesOf(*said);
    return {};
}

Status Demo::callOverMcp()
{
    const auto folder = exposeAs("mcp");
    if (!folder)
        return fail(folder.error());
    fs::path file;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(*folder, ignored)) {
        if (entry.path().string().ends_with(".mcp-stdio.json"))
            file = entry.path();
    }
    const auto text = readFile(file);
    const auto config = text ? parseJson(*text) : Result<Json>(fail(text.error()));
    if (!config)
        return fail(config.error());
    const Json servers = objectOr(*config, "mcpServers");
    const Json server = servers.empty() ? Json::object() : servers.front();
    const Json wanted = objectOr(m_about, "over_mcp");
    const std::vector<Json> messages{
        message(1, "initialize",
            Json{{"protocolVersion", mcpVersion}, {"capabilities", Json::object()},
                {"clientInfo", Json{{"name", "demo"}, {"version", "1"}}}}),
        Json{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}},
        message(2, "tools/list", Json::object()),
        message(3, "tools/call",
            Json{{"name", stringOr(wanted, "function")}, {"arguments", objectOr(wanted, "arguments")}})};
    Input input{{}, 3};
    for (const Json& one : messages)
        input.text += one.dump() + "\n";
    const auto said = output(
        (programFolder() / "glovebox").string(), server.value("args", std::vector<std::string>()), {}, input);
    if (!said)
        return fail(said.error());
    Json answers = Json::object();
    for (const std::string& line : linesOf(*said)) {
        const auto answer = parseJson(line);
        if (answer && answer->contains("id"))
            answers[(*answer)["id"].dump()] = objectOr(*answer, "result");
    }
    const Json tools = objectOr(answers, "2").value("tools", Json::array());
    const Json content = objectOr(answers, "3").value("content", Json::array());
    if (tools.empty() || content.empty())
        return fail("demo.mcp", "the MCP server did not answer as expected: " + *said);
    say("Over MCP", std::to_string(tools.size()) + " tools, as an agent sees them");
    say("", "  " + callText(wanted) + "   " + stringOr(content.front(), "text"));
    m_story["mcp"] = Json{{"tools", tools.size()}, {"result", stringOr(content.front(), "text")}};
    return {};
}

Status Demo::run()
{
    GB_TRY(chooseExample());
    auto python = chooseInterpreter(m_arguments.value("--python"));
    if (!python)
        return fail(python.error());
    m_python = *python;
    GB_TRY(start());
    GB_TRY(callByHand());
    GB_TRY(callByScript());
    return callOverMcp();
}

Status Demo::takeDown()
{
    if (wasInterrupted())
        forgetInterrupt();
    Status done;
    if (!m_sandbox.empty()) {
        const auto item = m_session.call("sandboxes.get", Json{{"sandbox", m_sandbox}});
        const std::string state = item ? stringOr(item->body, "state") : std::string();
        if (state != "stopped" && state != "failed")
            done = stopAndWait(m_session, m_sandbox, m_console);
        // Its host hands over the last records and goes.
        if (done && !m_interface.empty())
            waitForTheEnd();
        if (done) {
            const auto removed = m_session.call("sandboxes.rm", Json{{"sandbox", m_sandbox}});
            done = removed ? Status() : fail(removed.error());
        }
    }
    if (!m_folder.empty()) {
        std::error_code ignored;
        fs::remove_all(m_folder, ignored);
    }
    return done;
}

void Demo::conclude()
{
    const auto calls = m_session.call("calls.list", Json{{"interface", m_interface}, {"limit", 1000}});
    const Json records = calls ? calls->body.value("calls", Json::array()) : Json::array();
    const auto errors = std::count_if(
        records.begin(), records.end(), [](const Json& call) { return stringOr(call, "state") != "ok"; });
    m_story["example"] = m_example;
    m_story["calls"] = records.size();
    m_story["errors"] = errors;
    m_story["seconds"] = static_cast<double>(monotonicNs() - m_begin) / 1e9;
    if (m_console.json()) {
        m_console.print(m_story);
        return;
    }
    say("Record",
        std::to_string(records.size()) + " calls, " + std::to_string(errors)
            + " error, by person and script; they stay: glovebox calls ls");
    say("Done", "sandbox stopped, its files deleted, " + since(m_begin) + " in all");
}

} // namespace gb::cli
