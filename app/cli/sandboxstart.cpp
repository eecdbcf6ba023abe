// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxstart.h"

#include <cstdio>
#include <iostream>
#include <unistd.h>
#include <utility>

#include <backend/base/clock.h>
#include <backend/base/files.h>
#include <backend/base/shellword.h>

#include "command.h"
#include "sandboxflags.h"
#include "terminal.h"

namespace gb::cli {
namespace {

// FIELD what is wrong: what to write instead.
std::string problemLine(const Json& problem, const Console& console)
{
    const auto field = stringOr(problem, "field");
    const auto fix = stringOr(problem, "fix");
    return (field.empty() ? "" : console.painted("1", printable(field)) + " ")
        + printable(stringOr(problem, "message")) + (fix.empty() ? "" : ": " + printable(fix));
}

// A wrong spec: every problem with what to write instead.
int failSpec(const Error& error, const Console& console)
{
    const Json problems =
        error.data.is_object() ? error.data.value("problems", Json::array()) : Json::array();
    if (console.json() || problems.empty())
        return console.fail(error);
    const int code = console.fail(Error{error.code, "this sandbox cannot be made"});
    for (const Json& problem : problems)
        console.note("  " + problemLine(problem, console));
    return code;
}

void showReaches(const Json& plan, const Console& console)
{
    console.note("Outside its folder this experiment would reach:");
    for (const Json& reach : plan.value("reaches", Json::array()))
        console.note("  " + stringOr(reach, "what") + "  " + printable(stringOr(reach, "value")));
}

Result<Json> paramsFor(const Arguments& arguments, Session& session)
{
    const auto wanted = wantedSandbox(arguments, session);
    if (!wanted)
        return fail(wanted.error());
    Json params{{"spec", wanted->spec.toJson()}};
    if (!wanted->experiment.empty())
        params["experiment"] = wanted->experiment;
    return params;
}

// The values of secrets that this environment has; they are in no record and no op's outcome.
Json secretsFor(const Json& params)
{
    Json secrets = Json::object();
    for (const Json& name : params["spec"]["secrets"]) {
        const auto& text = name.get_ref<const std::string&>();
        if (const char* value = std::getenv(text.c_str()))
            secrets[text] = value;
    }
    return secrets;
}

// Somebody else's experiment starts only after the person has seen what it reaches and agreed.
Status askForTrust(const Error& refusal, const Console& console)
{
    const bool canAsk = !console.json() && ::isatty(STDIN_FILENO) != 0;
    if (!console.json())
        showReaches(refusal.data, console);
    if (!canAsk)
        return fail(refusal.code, refusal.message + "; if you trust it, add --trust", refusal.data);
    std::fprintf(stderr, "Start it? [y/N] ");
    std::string answer;
    if (!std::getline(std::cin, answer) || (answer != "y" && answer != "Y" && answer != "yes"))
        return fail(refusal.code, "not started");
    return {};
}

std::string stepLine(const Json& step)
{
    const bool isDownload = stringOr(step, "kind") == "model" && !boolOr(step, "reused");
    std::string line = boolOr(step, "reused") ? "reuse  " : (isDownload ? "fetch  " : "make   ");
    line += printable(stringOr(step, "title"));
    if (step.contains("bytes") && step["bytes"].is_number())
        line += "  " + bytes(integerOr(step, "bytes"));
    else if (isDownload && !step.contains("page"))
        line += "  size not known";
    if (step.contains("seconds") && step["seconds"].is_number() && !boolOr(step, "reused"))
        line += "  about " + duration(static_cast<std::int64_t>(numberOr(step, "seconds") * 1e9));
    return line + "\n";
}

Result<Json> serveInside(Session& session, const std::string& sandbox, const std::string& file)
{
    auto served = session.call("sandboxes.serve",
        Json{{"sandbox", sandbox}, {"interface", fs::absolute(file).lexically_normal().string()}});
    return served ? Result<Json>(std::move(served->body)) : fail(served.error());
}

} // namespace

StepLines::StepLines(const Console& console)
    : m_console(console), m_terminal(::isatty(STDERR_FILENO) != 0) { }

void StepLines::show(const Json& job)
{
    const std::string step = stringOr(job, "message");
    if (m_console.json() || step.empty())
        return;
    if (step != m_step) {
        end();
        m_step = step;
        m_since = monotonicNs();
        if (!m_terminal)
            m_console.note(printable(step));
    }
    if (m_terminal)
        draw(job);
    else
        notePart(job);
}

void StepLines::notePart(const Json& job)
{
    const Json part = objectOr(objectOr(job, "progress"), "part");
    const std::int64_t total = integerOr(part, "total");
    const std::int64_t tenth = total > 0 ? integerOr(part, "done") * 10 / total : 0;
    const std::string now = part.empty() ? "" : stringOr(part, "state") + " " + std::to_string(tenth);
    if (std::exchange(m_part, now) != now && !now.empty())
        m_console.note("  " + printable(stringOr(part, "state")) + figures(part));
}

void StepLines::draw(const Json& job)
{
    const Json progress = objectOr(job, "progress");
    std::string count;
    if (progress.contains("total"))
        count = std::to_string(integerOr(progress, "done")) + "/"
            + std::to_string(integerOr(progress, "total")) + "  ";
    std::string line = count + printable(m_step);
    if (const Json part = objectOr(progress, "part"); !part.empty()) {
        const std::string moving = "  " + printable(stringOr(part, "state")) + figures(part);
        // A line that wraps cannot be drawn over.
        const bool fits = line.size() + moving.size() < static_cast<std::size_t>(RawTerminal::size().columns);
        line = (fits ? line : count) + moving;
    }
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
}

void StepLines::end()
{
    if (m_terminal && !m_step.empty())
        std::fprintf(
            stderr, "\r\033[K%s  %s\n", printable(m_step).c_str(), duration(monotonicNs() - m_since).c_str());
    m_step.clear();
}

Result<Json> startAndWait(Session& session, Json params, Console& console)
{
    const auto started = session.call("sandboxes.start", std::move(params));
    if (!started)
        return fail(started.error());
    const std::string job = stringOr(started->body, "job");
    StepLines lines(console);
    auto result = session.waitForJob(job, [&lines](const Json& item) { lines.show(item); });
    lines.end();
    if (!result && result.error().code == "interrupted") {
        forgetInterrupt();
        console.note("Cancelling; what was started is taken down.");
        const auto cancelled = session.call("jobs.cancel", Json{{"job", job}});
        if (cancelled)
            (void)session.waitForJob(job);
        return fail("interrupted", "interrupted", Json{{"sandbox", stringOr(started->body, "sandbox")}});
    }
    const std::string id = stringOr(started->body, "sandbox");
    if (!result) {
        Error error = result.error();
        if (!error.data.is_object())
            error.data = Json::object();
        error.data["sandbox"] = id;
        return fail(std::move(error));
    }
    auto item = session.call("sandboxes.get", Json{{"sandbox", id}});
    return item ? Result<Json>(std::move(item->body)) : fail(item.error());
}

Status stopAndWait(Session& session, const std::string& sandbox, Console& console)
{
    const auto stopping = session.call("sandboxes.stop", Json{{"sandbox", sandbox}});
    if (!stopping)
        return fail(stopping.error());
    StepLines lines(console);
    const auto stopped =
        session.waitForJob(stringOr(stopping->body, "job"), [&lines](const Json& item) { lines.show(item); });
    lines.end();
    return stopped ? Status() : fail(stopped.error());
}

int planSandbox(const Arguments& arguments, Console& console)
{
    Session session;
    const auto params = paramsFor(arguments, session);
    if (!params)
        return failSpec(params.error(), console);
    const auto answer = session.call("sandboxes.plan", *params);
    if (!answer)
        return failSpec(answer.error(), console);
    const Json& plan = answer->body;
    if (console.json()) {
        console.print(plan);
        return Done;
    }
    for (const Json& step : plan.value("steps", Json::array()))
        console.out(stepLine(step));
    const Json limits = objectOr(plan, "limits"); // held: items() only refers to it
    for (const auto& [name, way] : limits.items())
        console.out("limit  " + printable(name) + "  "
            + printable(way.is_string() ? way.get<std::string>() : "") + "\n");
    for (const Json& problem : plan.value("problems", Json::array()))
        console.note(stringOr(problem, "severity") + ": " + problemLine(problem, console));
    if (boolOr(plan, "needs_trust"))
        showReaches(plan, console);
    return Done;
}

int startSandbox(const Arguments& arguments, Console& console)
{
    Session session;
    auto params = paramsFor(arguments, session);
    if (!params)
        return failSpec(params.error(), console);
    (*params)["secrets"] = secretsFor(*params);
    (*params)["trust"] = arguments.has("--trust");
    auto sandbox = startAndWait(session, *params, console);
    if (!sandbox && sandbox.error().code == "experiment.untrusted") {
        if (const Status trusted = askForTrust(sandbox.error(), console); !trusted)
            return console.fail(trusted.error());
        (*params)["trust"] = true;
        sandbox = startAndWait(session, *params, console);
    }
    if (!sandbox) {
        if (const std::string id = stringOr(sandbox.error().data, "sandbox"); !id.empty())
            console.note("What it said: glovebox sandbox logs " + id);
        return failSpec(sandbox.error(), console);
    }
    const std::string id = stringOr(*sandbox, "id");
    Json shown = *sandbox;
    for (const std::string& file : arguments.values("--serve")) {
        const auto served = serveInside(session, id, file);
        if (!served)
            return console.fail(served.error());
        shown["served"].push_back(*served);
    }
    for (const Json& warning : shown.value("warnings", Json::array()))
        console.note("warning: "
            + printable(warning.is_string() ? warning.get<std::string>() : stringOr(warning, "message")));
    const std::string name = stringOr(shown, "name");
    console.json() ? console.print(shown) : console.out(printable(name) + "  " + id + "\n");
    const std::int64_t left = integerOr(shown, "ends_at") - wallMs();
    console.note(left > 0 ? "It ends in " + duration(left * 1'000'000) + "; longer: glovebox sandbox extend "
                + shellWord(printable(name)) + " 30m"
                          : "It runs until you stop it: glovebox sandbox stop " + shellWord(printable(name)));
    return Done;
}

} // namespace gb::cli
