// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <charconv>
#include <optional>

#include <backend/base/clock.h>
#include <backend/base/files.h>
#include <backend/base/shellword.h>

#include "command.h"
#include "endwarning.h"
#include "listing.h"
#include "sandboxcopy.h"
#include "sandboxexec.h"
#include "sandboxflags.h"
#include "sandboxstart.h"
#include "session.h"

namespace gb::cli {
namespace {

std::string stateText(const Json& item)
{
    std::string text = stringOr(item, "state");
    if (const Json error = objectOr(item, "error"); !error.empty())
        text += ": " + printable(stringOr(error, "message"));
    else if (const std::string reason = stringOr(item, "reason"); !reason.empty() && reason != text)
        text += ": " + printable(reason);
    return text;
}

std::string endText(const Json& item)
{
    const std::int64_t endsAt = integerOr(item, "ends_at");
    if (endsAt == 0)
        return {};
    const std::int64_t left = std::max<std::int64_t>(0, endsAt - wallMs());
    return (boolOr(item, "ending") ? "soon, in " : "in ") + duration(left * 1'000'000);
}

int listSandboxes(const Arguments&, Console& console)
{
    return printListing(
        {"sandboxes.list", "sandboxes", {"name", "state", "kind", "made", "ends", "interfaces", "id"},
            [](const Json& item) -> std::vector<std::string> {
                return {printable(stringOr(item, "name")), stateText(item),
                    boolOr(item, "scoped") ? "scoped" : "full", ago(integerOr(item, "created_at")),
                    endText(item), std::to_string(item.value("interfaces", Json::array()).size()),
                    stringOr(item, "id").substr(0, 13)};
            },
            "No sandboxes. Start one: glovebox sandbox start, in an experiment's folder"},
        Json::object(), console);
}

int listImages(const Arguments& arguments, Console& console)
{
    if (arguments.has("--collect")) {
        Session session;
        const auto answer = session.call("sandboxes.collect");
        if (!answer)
            return console.fail(answer.error());
        console.json() ? console.print(answer->body)
                       : console.out(bytes(integerOr(answer->body, "freed")) + " freed\n");
        return Done;
    }
    return printListing({"sandboxes.images", "images", {"what", "size", "built", "used", "", "key"},
                            [](const Json& image) -> std::vector<std::string> {
                                return {printable(stringOr(image, "title")), bytes(integerOr(image, "bytes")),
                                    ago(integerOr(image, "built_at")), ago(integerOr(image, "used_at")),
                                    boolOr(image, "in_use") ? "in use" : "",
                                    stringOr(image, "key").substr(0, 12)};
                            },
                            "No images yet; the first start makes them."},
        Json::object(), console);
}

// The one sandbox a command is about.
Result<std::string> theSandbox(const Arguments& arguments, std::size_t words)
{
    if (arguments.positional().size() != words)
        return fail(
            "usage", words == 1 ? "give one sandbox; see: glovebox sandbox ls" : "wrong number of words");
    return arguments.positional().front();
}

int showSandbox(const Arguments& arguments, Console& console)
{
    const auto sandbox = theSandbox(arguments, 1);
    if (!sandbox)
        return console.fail(sandbox.error());
    Session session;
    const auto answer = session.call("sandboxes.get", Json{{"sandbox", *sandbox}});
    if (!answer)
        return console.fail(answer.error());
    const Json& item = answer->body;
    if (console.json()) {
        console.print(item);
        return Done;
    }
    console.out(printable(stringOr(item, "name")) + "  " + stringOr(item, "id") + "\n");
    console.out("state      " + stateText(item) + ", since " + ago(integerOr(item, "since")) + "\n");
    console.out("provider   " + printable(stringOr(item, "provider"))
        + (boolOr(item, "scoped") ? ", scoped" : "") + "\n");
    if (const std::string end = endText(item); !end.empty())
        console.out("ends       " + end + "; longer: glovebox sandbox extend "
            + shellWord(printable(stringOr(item, "name"))) + " 30m\n");
    if (const std::string experiment = stringOr(item, "experiment"); !experiment.empty())
        console.out("experiment " + printable(experiment) + "\n");
    for (const Json& step : item.value("steps", Json::array()))
        console.out("step       " + printable(stringOr(step, "title"))
            + (boolOr(step, "reused") ? "  (reused)" : "") + "\n");
    if (const auto meters = session.call("sandboxes.meters", Json{{"sandbox", *sandbox}}); meters)
        console.out("uses       " + std::to_string(integerOr(meters->body, "processes")) + " processes, "
            + bytes(integerOr(meters->body, "memory")) + " of memory\n");
    return Done;
}

int showSandboxLogs(const Arguments& arguments, Console& console)
{
    const auto sandbox = theSandbox(arguments, 1);
    if (!sandbox)
        return console.fail(sandbox.error());
    std::optional<EndWarning> warning;
    return printLog("sandboxes.log", Json{{"sandbox", *sandbox}, {"offset", 0}}, arguments.has("--follow"),
        console, [&](Session& session) { warning.emplace(session, *sandbox, console); });
}

int serveInSandbox(const Arguments& arguments, Console& console)
{
    const auto sandbox = theSandbox(arguments, 2);
    if (!sandbox)
        return console.fail(Error{"usage", "give a sandbox and an interface file"});
    Json params{{"sandbox", *sandbox},
        {"interface", fs::absolute(arguments.positional()[1]).lexically_normal().string()}};
    if (arguments.has("--name"))
        params["name"] = arguments.value("--name");
    if (arguments.has("--watch"))
        params["watch"] = true;
    Session session;
    const auto answer = session.call("sandboxes.serve", std::move(params));
    if (!answer)
        return console.fail(answer.error());
    const Json& item = answer->body;
    console.json() ? console.print(item)
                   : console.out(printable(stringOr(item, "name")) + "  " + stringOr(item, "id") + "\n");
    const std::int64_t functions = integerOr(item, "functions");
    console.note(std::to_string(functions) + (functions == 1 ? " function" : " functions")
        + " served; try: glovebox calls run FUNCTION name=value…");
    return Done;
}

int listPorts(const std::string& sandbox, Console& console)
{
    return printListing({"sandboxes.ports", "ports", {"inside", "here", "id"},
                            [](const Json& port) -> std::vector<std::string> {
                                const std::int64_t number = integerOr(port, "port");
                                const std::string inside = stringOr(port, "path");
                                return {inside.empty() ? std::to_string(number) : printable(inside),
                                    printable(stringOr(port, "socket")), stringOr(port, "id")};
                            },
                            "No ports are open."},
        Json{{"sandbox", sandbox}}, console);
}

int openPort(const std::string& sandbox, const std::string& inside, bool isTcp, Console& console)
{
    Json params{{"sandbox", sandbox}, {"tcp", isTcp}};
    int port = 0;
    const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), port);
    if (error == std::errc() && end == inside.data() + inside.size())
        params["port"] = port;
    else if (inside.starts_with('/'))
        params["path"] = inside;
    else
        return console.fail(Error{"usage", "a port is a number, or the path of a UNIX socket inside"});
    Session session;
    const auto answer = session.call("sandboxes.port", std::move(params));
    if (!answer)
        return console.fail(answer.error());
    if (console.json()) {
        console.print(answer->body);
        return Done;
    }
    if (!isTcp) {
        console.out(printable(stringOr(answer->body, "socket")) + "\n");
        return Done;
    }
    console.out(
        stringOr(answer->body, "host") + ":" + std::to_string(integerOr(answer->body, "port")) + "\n");
    console.note("Every user of this machine can reach it.");
    return Done;
}

int ports(const Arguments& arguments, Console& console)
{
    const auto& words = arguments.positional();
    if (words.empty() || words.size() > 2)
        return console.fail(Error{"usage", "give a sandbox, and a port to open one"});
    if (arguments.has("--close")) {
        Session session;
        const auto closed = session.call(
            "sandboxes.port_close", Json{{"sandbox", words[0]}, {"id", arguments.value("--close")}});
        return closed ? Done : console.fail(closed.error());
    }
    return words.size() == 1 ? listPorts(words[0], console)
                             : openPort(words[0], words[1], arguments.has("--tcp"), console);
}

int extendSandbox(const Arguments& arguments, Console& console)
{
    const auto sandbox = theSandbox(arguments, 2);
    if (!sandbox)
        return console.fail(
            Error{"usage", "give a sandbox and how much longer: glovebox sandbox extend NAME 30m"});
    const auto seconds = parseSeconds(arguments.positional()[1]);
    if (!seconds)
        return console.fail(seconds.error());
    Session session;
    const auto answer = session.call("sandboxes.extend", Json{{"sandbox", *sandbox}, {"seconds", *seconds}});
    if (!answer)
        return console.fail(answer.error());
    console.json() ? console.print(answer->body) : console.out("ends " + endText(answer->body) + "\n");
    return Done;
}

// The sandboxes named, or all that `wanted` says yes to.
Result<std::vector<std::string>> chosenSandboxes(
    Session& session, const Arguments& arguments, const std::function<bool(const std::string&)>& wanted)
{
    if (!arguments.has("--all")) {
        if (arguments.positional().empty())
            return fail("usage", "give a sandbox, or --all; see: glovebox sandbox ls");
        return arguments.positional();
    }
    const auto answer = session.call("sandboxes.list");
    if (!answer)
        return fail(answer.error());
    std::vector<std::string> ids;
    for (const Json& item : answer->body.value("sandboxes", Json::array())) {
        if (wanted(stringOr(item, "state")))
            ids.push_back(stringOr(item, "id"));
    }
    return ids;
}

bool isOver(const std::string& state)
{
    return state == "stopped" || state == "failed";
}

int stopSandboxes(const Arguments& arguments, Console& console)
{
    Session session;
    const auto chosen =
        chosenSandboxes(session, arguments, [](const std::string& state) { return !isOver(state); });
    if (!chosen)
        return console.fail(chosen.error());
    for (const std::string& sandbox : *chosen) {
        if (const Status stopped = stopAndWait(session, sandbox, console); !stopped)
            return console.fail(stopped.error());
    }
    if (console.json())
        console.print(Json{{"stopped", *chosen}});
    return Done;
}

int removeSandboxes(const Arguments& arguments, Console& console)
{
    Session session;
    const auto chosen = chosenSandboxes(session, arguments, isOver);
    if (!chosen)
        return console.fail(chosen.error());
    for (const std::string& sandbox : *chosen) {
        const auto removed = session.call("sandboxes.rm", Json{{"sandbox", sandbox}});
        if (!removed)
            return console.fail(removed.error());
    }
    if (console.json())
        console.print(Json{{"removed", *chosen}});
    return Done;
}

std::vector<Option> startFlags()
{
    std::vector<Option> flags = sandboxFlags();
    flags.push_back({"--serve", "FILE", "then serve this interface file in it", true});
    flags.push_back({"--trust", "", "the experiment comes from elsewhere and may reach what plan lists"});
    return flags;
}

} // namespace

std::vector<Command> sandboxCommands()
{
    const std::vector<Option> exec{{"--terminal", "", "a real terminal: for shells and editors", false, 't'},
        {"--cwd", "DIR", "in this folder (/workspace)"}, {"--env", "NAME=VALUE", "with this variable", true},
        {"--timeout", "TIME", "end it after this long"}, {"--no-input", "", "it has no standard input"}};
    return {
        {"sandbox plan", "[DIR]", "What a start would do, reuse and reach", sandboxFlags(), planSandbox},
        {"sandbox start", "[DIR]", "Start a sandbox from experiment.toml, from options, or both",
            startFlags(), startSandbox},
        {"sandbox ls", "", "List sandboxes", {}, listSandboxes},
        {"sandbox show", "SANDBOX", "Everything about one", {}, showSandbox},
        {"sandbox exec", "SANDBOX COMMAND…", "Run a command inside; its exit code is this command's", exec,
            execInSandbox, 2},
        {"sandbox cp", "FROM TO", "Copy files and folders in or out; inside is SANDBOX:PATH", {},
            copyWithSandbox},
        {"sandbox logs", "SANDBOX [--follow]", "What was said while it was made",
            {{"--follow", "", "go on until Ctrl+C"}}, showSandboxLogs},
        {"sandbox serve", "SANDBOX FILE", "Serve an interface file inside",
            {{"--name", "NAME", "what the interface is called (the file's name)"},
                {"--watch", "", "load it again when the file changes"}},
            serveInSandbox},
        {"sandbox port", "SANDBOX [PORT|PATH]", "Reach a port inside by a socket of your own, or list those",
            {{"--tcp", "", "by a port of 127.0.0.1: every user of this machine can reach it"},
                {"--close", "ID", "close this one"}},
            ports},
        {"sandbox extend", "SANDBOX TIME", "Let it live longer", {}, extendSandbox},
        {"sandbox stop", "SANDBOX…", "End sandboxes; returns when nothing of them runs",
            {{"--all", "", "all that run"}}, stopSandboxes},
        {"sandbox rm", "SANDBOX…", "Delete the files of sandboxes that have ended",
            {{"--all", "", "all that have ended"}}, removeSandboxes},
        {"sandbox images", "", "List what was built for sandboxes, with sizes",
            {{"--collect", "", "delete what nothing uses"}}, listImages},
    };
}

} // namespace gb::cli
