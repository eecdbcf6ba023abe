// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "command.h"
#include "listing.h"
#include "session.h"

#include <backend/base/clock.h>

namespace gb::cli {
namespace {

void printEvent(Console& console, const Json& event)
{
    if (console.json()) {
        console.printLine(event);
        return;
    }
    console.out(std::to_string(integerOr(event, "seq")) + "  " + isoUtc(integerOr(event, "at")) + "  "
        + console.painted("1", printable(stringOr(event, "type"))) + "  "
        + printable(event.value("data", Json()).dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n");
}

int followEvents(Session& session, const std::string& stream, std::int64_t since, Console& console)
{
    QObject guard;
    QObject::connect(&session.client(), &api::Client::eventsArrived, &guard,
        [&console](const QString&, qint64, const Json& events) {
            for (const Json& event : events)
                printEvent(console, event);
        });
    std::optional<Error> lost;
    QObject::connect(
        &session.client(), &api::Client::disconnected, &guard, [&lost](const Error& error) { lost = error; });
    session.client().follow(stream, since);
    if (const Status waited = session.waitUntil([&lost] { return lost.has_value(); }); !waited)
        return Interrupted;
    return console.fail(*lost);
}

int showEvents(const Arguments& arguments, Console& console)
{
    const auto since = arguments.integer("--since", 1);
    if (!since)
        return console.fail(since.error());
    const std::string stream = arguments.value("--stream", "daemon");
    Session session;
    std::int64_t next = *since;
    for (;;) {
        const auto answer =
            session.call("events.read", Json{{"stream", stream}, {"since", next}, {"limit", 1000}});
        if (!answer)
            return console.fail(answer.error());
        const Json events = answer->body.value("events", Json::array());
        for (const Json& event : events)
            printEvent(console, event);
        next = integerOr(answer->body, "next", next);
        if (events.empty())
            break;
    }
    return arguments.has("--follow") ? followEvents(session, stream, next, console) : Done;
}

int showDiagnostics(const Arguments&, Console& console)
{
    Session session;
    return printOutcome(
        session.call("diagnostics.get"), console, [](const Json& body) { return stringOr(body, "text"); });
}

} // namespace

std::vector<Command> eventCommands()
{
    return {
        {"events", "[--follow] [--since N] [--stream ID]", "Print durable events",
            {{"--follow", "", "go on until Ctrl+C"}, {"--since", "N", "from this number on (1)"},
                {"--stream", "ID", "daemon (the default) or a run's id"}},
            showEvents},
        {"diagnostics", "", "What to paste into a bug report; secrets and names of folders are left out", {},
            showDiagnostics},
    };
}

} // namespace gb::cli
