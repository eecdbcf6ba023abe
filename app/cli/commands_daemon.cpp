// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <csignal>
#include <utility>

#include <backend/base/files.h>
#include <backend/base/paths.h>

#include "command.h"
#include "listing.h"
#include "session.h"

namespace gb::cli {
namespace {

// "2: window, cli"
std::string countedNames(const Json& status, const char* list, const char* key)
{
    const auto found = status.find(list);
    if (found == status.end() || !found->is_array())
        return "0";
    std::string line = std::to_string(found->size());
    const char* separator = ": ";
    for (const auto& item : *found)
        line += std::exchange(separator, ", ") + printable(stringOr(item, key));
    return line;
}

int showStatus(const Arguments&, Console& console)
{
    Session session(false);
    const auto answer = session.call("daemon.status");
    if (!answer) {
        if (answer.error().code == "interrupted")
            return console.fail(answer.error());
        // Not running is an answer, not a failure of the command.
        if (console.json())
            console.print(Json{{"running", false}, {"data_folder", dataFolder().string()}});
        else
            console.out("The daemon is not running. Any command that needs it starts it.\n");
        return Done;
    }
    Json status = answer->body;
    status["running"] = true;
    if (console.json()) {
        console.print(status);
        return Done;
    }
    console.out("running, pid " + std::to_string(integerOr(status, "pid")) + ", for "
        + std::to_string(integerOr(status, "uptime_s")) + " s\n");
    console.out("data      " + printable(stringOr(status, "data_folder")) + "\n");
    console.out("build     " + printable(stringOr(status, "build")) + "\n");
    console.out("clients   " + countedNames(status, "clients", "name") + "\n");
    console.out("alive     " + countedNames(status, "alive", "title") + "\n");
    return Done;
}

// It still writes after its answer: who removes its folder next must not meet it there.
Status waitUntilLeft(Session& session, pid_t daemon)
{
    constexpr int lookMs = 20;
    constexpr int mostLooks = 1500;
    for (int look = 0; look < mostLooks; ++look) {
        // Its number tells even when the next one holds the lock already, the lock even when nobody has asked
        // how it ended.
        const bool isGone = daemon > 0 && ::kill(daemon, 0) != 0 && errno == ESRCH;
        if (isGone || holdLock(dataFolder() / "daemon.lock"))
            return {};
        GB_TRY(session.pause(lookMs));
    }
    return fail("daemon.still_there",
        "the daemon has not left within 30 seconds; what it does is in: glovebox daemon logs");
}

int stopDaemon(const Arguments& arguments, Console& console)
{
    Session session(false);
    const auto status = session.call("daemon.status");
    const auto answer = session.call("daemon.stop", Json{{"force", arguments.has("--force")}});
    if (!answer) {
        // A daemon that leaves may close the connection before its answer is read; one that was not there is
        // fine.
        if (answer.error().code.starts_with("api.")) {
            console.json() ? console.print(Json{{"stopped", true}})
                           : console.note("The daemon is not running.");
            return Done;
        }
        return console.fail(answer.error());
    }
    const auto pid = status ? static_cast<pid_t>(integerOr(status->body, "pid")) : 0;
    if (const Status left = waitUntilLeft(session, pid); !left)
        return console.fail(left.error());
    console.json() ? console.print(Json{{"stopped", true}}) : console.note("The daemon has left.");
    return Done;
}

int showLogs(const Arguments& arguments, Console& console)
{
    return printLog("daemon.logs", Json{{"offset", -256 * 1024}}, arguments.has("--follow"), console);
}

int listMethods(const Arguments&, Console& console)
{
    return printListing({"daemon.methods", "methods", {"method", "", "what it does"},
                            [](const Json& method) -> std::vector<std::string> {
                                return {stringOr(method, "name"), boolOr(method, "op") ? "op" : "",
                                    stringOr(method, "summary")};
                            },
                            {}},
        Json::object(), console);
}

} // namespace

std::vector<Command> daemonCommands()
{
    return {
        {"daemon status", "", "Is the daemon running, and what does it keep alive?", {}, showStatus},
        {"daemon stop", "[--force]", "Ask the daemon to leave; it refuses while something is alive",
            {{"--force", "", "leave all the same: what is alive goes on and is found again"}}, stopDaemon},
        {"daemon logs", "[--follow]", "Show the end of the daemon's log",
            {{"--follow", "", "go on until Ctrl+C"}}, showLogs},
        {"daemon methods", "", "List the methods of the API", {}, listMethods},
    };
}

} // namespace gb::cli
