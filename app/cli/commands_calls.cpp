// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "command.h"
#include "session.h"

#include <backend/base/ids.h>

namespace gb::cli {
namespace {

// An interface by name or by the beginning of its id; the only one there is when nothing is named.
Result<std::string> findInterface(Session& session, const std::string& wanted)
{
    const auto answer = session.call("interfaces.list");
    if (!answer)
        return fail(answer.error());
    std::vector<std::string> found;
    std::string names;
    for (const Json& item : answer->body.value("interfaces", Json::array())) {
        if (stringOr(item, "state") == "gone")
            continue;
        const std::string id = stringOr(item, "id");
        const std::string name = stringOr(item, "name");
        names += (names.empty() ? "" : ", ") + name;
        if (wanted.empty() || name == wanted || id.starts_with(wanted))
            found.push_back(id);
    }
    if (found.size() == 1)
        return found.front();
    if (names.empty())
        return fail("interfaces.none", "nothing is served; start with: glovebox serve interface.py");
    if (found.empty())
        return fail("interfaces.unknown", "no interface is called " + wanted + "; served: " + names);
    return fail("interfaces.ambiguous", "several interfaces match; served: " + names);
}

int listInterfaces(const Arguments&, Console& console)
{
    Session session;
    const auto answer = session.call("interfaces.list");
    if (!answer)
        return console.fail(answer.error());
    if (console.json()) {
        console.print(answer->body);
        return Done;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& item : answer->body.value("interfaces", Json::array()))
        rows.push_back({printable(stringOr(item, "name")), stringOr(item, "state"),
            std::to_string(integerOr(item, "functions")), printable(stringOr(item, "source")),
            stringOr(item, "id").substr(0, 13)});
    if (rows.empty())
        console.note("Nothing is served. Start with: glovebox serve interface.py");
    else
        console.table({"name", "state", "functions", "file", "id"}, rows);
    return Done;
}

int listCalls(const Arguments& arguments, Console& console)
{
    const auto limit = arguments.integer("--limit", 50);
    if (!limit)
        return console.fail(limit.error());
    std::string filter;
    for (const std::string& word : arguments.positional())
        filter += (filter.empty() ? "" : " ") + word;
    Session session;
    const auto answer = session.call("calls.list", Json{{"filter", filter}, {"limit", *limit}});
    if (!answer)
        return console.fail(answer.error());
    if (console.json()) {
        console.print(answer->body);
        return Done;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& call : answer->body.value("calls", Json::array())) {
        const Json caller = objectOr(call, "caller");
        rows.push_back({stringOr(call, "id"), ago(integerOr(call, "at")), printable(stringOr(call, "fn")),
            stringOr(caller, "kind"), stringOr(call, "state"), duration(integerOr(call, "duration_ns")),
            printable(stringOr(call, "preview")).substr(0, 60)});
    }
    console.table({"call", "when", "function", "by", "state", "took", "result"}, rows);
    return Done;
}

int showCall(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one call; see: glovebox calls ls"});
    Session session;
    const auto answer = session.call("calls.get", Json{{"call", arguments.positional().front()}});
    if (!answer)
        return console.fail(answer.error());
    Json record = answer->body;
    if (!answer->attachment.empty())
        record["result"] = Json::parse(answer->attachment, nullptr, false);
    console.json() ? console.printLine(record)
                   : console.out(record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return Done;
}

int finishCall(Console& console, const Result<api::Client::Answer>& answer)
{
    if (!answer)
        return console.fail(answer.error());
    const Json& record = answer->body;
    const bool good = stringOr(record, "state") == "ok";
    if (console.json()) {
        Json whole = record;
        if (!answer->attachment.empty())
            whole["result"] = Json::parse(answer->attachment, nullptr, false);
        console.printLine(whole);
        return good ? Done : Failed;
    }
    for (const Json& piece : record.value("output", Json::array()))
        console.note(printable(stringOr(piece, "text")));
    if (good) {
        console.out(
            (answer->attachment.empty() ? record.value("result", Json()).dump() : answer->attachment) + "\n");
        return Done;
    }
    const Json error = objectOr(record, "error");
    console.error(printable(stringOr(error, "type") + ": " + stringOr(error, "message")));
    if (const std::string traceback = stringOr(error, "traceback"); !traceback.empty())
        console.note(printable(traceback));
    return Failed;
}

// `name=value` arguments: the value is JSON when it parses as JSON, else the text itself.
Result<Json> namedArguments(const std::vector<std::string>& words)
{
    Json named = Json::object();
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail("usage", "arguments are given as name=value, not \"" + word + "\"");
        const std::string text = word.substr(equals + 1);
        named[word.substr(0, equals)] = parseJson(text).value_or(Json(text));
    }
    return named;
}

int runCall(const Arguments& arguments, Console& console)
{
    if (arguments.positional().empty())
        return console.fail(Error{"usage", "give a function, then name=value…"});
    const std::vector<std::string> words(arguments.positional().begin() + 1, arguments.positional().end());
    Result<Json> named =
        arguments.has("--kwargs") ? parseJson(arguments.value("--kwargs")) : namedArguments(words);
    if (!named)
        return console.fail(named.error());
    Session session;
    const auto interface = findInterface(session, arguments.value("--interface"));
    if (!interface)
        return console.fail(interface.error());
    return finishCall(console,
        session.call("calls.run",
            Json{{"interface", *interface}, {"fn", arguments.positional().front()}, {"args", Json::array()},
                {"kwargs", *named}}));
}

int resendCall(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one call; see: glovebox calls ls"});
    Session session;
    const auto old = session.call("calls.get", Json{{"call", arguments.positional().front()}});
    if (!old)
        return console.fail(old.error());
    const Json served = objectOr(old->body, "interface");
    const Json given = objectOr(old->body, "args");
    const auto interface = findInterface(session, stringOr(served, "name"));
    if (!interface)
        return console.fail(interface.error());
    return finishCall(console,
        session.call("calls.run",
            Json{{"interface", *interface}, {"fn", stringOr(old->body, "fn")},
                {"args", given.value("args", Json::array())}, {"kwargs", objectOr(given, "kwargs")}}));
}

} // namespace

std::vector<Command> callCommands()
{
    return {
        {"interfaces", "", "List what is served", {}, listInterfaces},
        {"calls ls", "[FILTER…]", "List calls, newest first, for example: status:error fn:steer dur:>500ms",
            {{"--limit", "N", "at most this many (50)"}}, listCalls},
        {"calls show", "CALL", "Print one call whole", {}, showCall},
        {"calls run", "FUNCTION [name=value…]", "Call a served function",
            {{"--interface", "NAME", "which one, when several are served"},
                {"--kwargs", "JSON", "all arguments as one JSON object"}},
            runCall},
        {"calls resend", "CALL", "Make the same call again", {}, resendCall},
    };
}

} // namespace gb::cli
