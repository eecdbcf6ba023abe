// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cstdio>

#include <backend/base/shellword.h>

#include "command.h"
#include "listing.h"
#include "session.h"

namespace gb::cli {
namespace {

// One line about a download: "downloading  41 %  1.2 GB of 2.9 GB  98 MB/s  17 s left".
std::string downloadLine(const Json& item)
{
    std::string line = stringOr(item, "state") + figures(item);
    if (const Json reason = objectOr(item, "reason"); !reason.empty())
        line += "  " + printable(stringOr(reason, "message"));
    return line;
}

// On a terminal one line that is drawn over; elsewhere a line when the state changes and every ten per cent,
// so that a log stays readable.
class ProgressLine
{
public:
    explicit ProgressLine(const Console& console) : m_console(console), m_terminal(::isatty(2) != 0) { }

    void show(const Json& item)
    {
        const std::string state = stringOr(item, "state");
        const std::int64_t total = integerOr(item, "total");
        const std::int64_t tenth = total > 0 ? integerOr(item, "done") * 10 / total : 0;
        const bool isStep = state != m_state || tenth != m_tenth;
        m_state = state;
        m_tenth = tenth;
        if (m_console.json()) {
            if (isStep)
                m_console.printLine(item);
        } else if (m_terminal) {
            std::fprintf(stderr, "\r\033[K%s", downloadLine(item).c_str());
            m_open = true;
        } else if (isStep) {
            m_console.note(downloadLine(item));
        }
    }
    void end()
    {
        if (m_open)
            std::fputs("\n", stderr);
        m_open = false;
    }

private:
    const Console& m_console;
    bool m_terminal;
    bool m_open = false;
    std::string m_state;
    std::int64_t m_tenth = -1;
};

Json arrayOf(const std::vector<std::string>& strings)
{
    Json array = Json::array();
    for (const std::string& one : strings)
        array.push_back(one);
    return array;
}

int getModel(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(
            Error{"usage", "give one model: org/name, org/name@revision or its page's address"});
    const auto priority = arguments.integer("--priority", 0);
    if (!priority)
        return console.fail(priority.error());
    Session session;
    const auto answer = session.call("models.get",
        Json{{"model", arguments.positional().front()}, {"include", arrayOf(arguments.values("--include"))},
            {"exclude", arrayOf(arguments.values("--exclude"))}, {"priority", *priority}});
    if (!answer)
        return console.fail(answer.error());
    const std::string id = stringOr(answer->body, "id");
    if (arguments.has("--detach")) {
        console.json() ? console.print(answer->body) : console.out(id + "\n");
        return Done;
    }
    session.client().watch({"models"});
    ProgressLine line(console);
    Json item = answer->body;
    bool isKnown = false;
    const auto isOver = [&] {
        const auto& items = session.client().items("models");
        if (session.lost())
            return true;
        if (!items.contains(id))
            return isKnown; // somebody took it off the list
        isKnown = true;
        item = items[id];
        line.show(item);
        const std::string state = stringOr(item, "state");
        return state == "ready" || state == "failed" || state == "paused" || state == "waiting_access";
    };
    const Status waited = session.waitUntil(isOver);
    line.end();
    if (!waited) {
        console.note("The download goes on in the background; stop it with: glovebox models pause " + id);
        return Interrupted;
    }
    if (session.lost())
        return console.fail(*session.lost());
    if (!session.client().items("models").contains(id))
        return console.fail(Error{"models.removed", "the download was taken off the list"});
    if (stringOr(item, "state") != "ready")
        return console.fail(Error::fromJson(objectOr(item, "reason")));
    if (!console.json()) {
        for (const Json& part : objectOr(item, "outcome").value("parts", Json::array()))
            console.out(stringOr(part, "snapshot") + "\n");
    }
    return Done;
}

int listModels(const Arguments&, Console& console)
{
    Session session;
    const auto answer = session.call("models.ls");
    if (!answer)
        return console.fail(answer.error());
    if (console.json()) {
        console.print(answer->body);
        return Done;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& model : answer->body.value("models", Json::array())) {
        for (const Json& revision : model.value("revisions", Json::array())) {
            std::string refs;
            for (const Json& ref : revision.value("refs", Json::array()))
                refs += (refs.empty() ? "" : ", ") + ref.get<std::string>();
            const bool isKnown = boolOr(revision, "listed");
            rows.push_back({printable(stringOr(model, "repo")), printable(refs),
                stringOr(revision, "commit").substr(0, 8), bytes(integerOr(revision, "bytes")),
                boolOr(revision, "complete") ? "complete" : (isKnown ? "incomplete" : "unknown"),
                ago(integerOr(model, "last_used"))});
        }
        std::int64_t loose = 0;
        for (const char* kind : {"orphans", "partials"}) {
            for (const Json& blob : model.value(kind, Json::array()))
                loose += integerOr(blob, "allocated");
        }
        if (loose > 0)
            console.note(printable(stringOr(model, "repo")) + " has " + bytes(loose)
                + " of unfinished or unused files: glovebox models rm --loose "
                + shellWord(printable(stringOr(model, "repo"))));
    }
    if (rows.empty())
        console.note("No models yet. Fetch one: glovebox models get ORG/NAME");
    else
        console.table({"model", "name", "commit", "size", "state", "used"}, rows);
    console.note(bytes(integerOr(answer->body, "bytes")) + " in " + printable(stringOr(answer->body, "cache"))
        + ", " + bytes(integerOr(answer->body, "free")) + " free");
    return Done;
}

int showModel(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one model"});
    Session session;
    const auto answer = session.call("models.show", Json{{"model", arguments.positional().front()}});
    if (!answer)
        return console.fail(answer.error());
    const Json& model = answer->body;
    if (console.json()) {
        console.print(model);
        return Done;
    }
    const Json tensors = objectOr(model, "tensors");
    console.out(printable(stringOr(model, "repo")) + " at " + stringOr(model, "commit").substr(0, 8) + ", "
        + bytes(integerOr(model, "bytes")) + " to load"
        + (tensors.empty() ? "" : ", " + std::to_string(integerOr(tensors, "parameters")) + " parameters")
        + "\n");
    if (const std::string base = stringOr(model, "base"); !base.empty())
        console.out("adapter of " + printable(base) + "\n");
    if (const std::string gated = stringOr(model, "gated"); !gated.empty())
        console.out(
            "access has to be requested (" + printable(gated) + "): " + stringOr(model, "page") + "\n");
    std::vector<std::vector<std::string>> rows;
    for (const Json& file : model.value("files", Json::array()))
        rows.push_back({printable(stringOr(file, "path")), bytes(integerOr(file, "size")),
            boolOr(file, "cached") ? "cached" : (boolOr(file, "chosen") ? "needed" : "left out")});
    console.table({"file", "size", "state"}, rows);
    for (const Json& problem : model.value("problems", Json::array()))
        console.note(printable(stringOr(problem, "message")));
    return Done;
}

int verifyModel(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one model"});
    Session session;
    const auto started = session.call("models.verify",
        Json{{"model", arguments.positional().front()}, {"repair", arguments.has("--repair")}});
    if (!started)
        return console.fail(started.error());
    const auto checked = session.waitForJob(stringOr(started->body, "job"));
    if (!checked)
        return console.fail(checked.error());
    const Json& result = *checked;
    const std::size_t wrong =
        result.value("bad", Json::array()).size() + result.value("missing", Json::array()).size();
    if (console.json()) {
        console.print(result);
        return wrong == 0 ? Done : Failed;
    }
    console.out(std::to_string(integerOr(result, "files")) + " files, " + bytes(integerOr(result, "bytes"))
        + (wrong == 0 ? ": everything is what the hub says it is\n" : "\n"));
    for (const char* kind : {"bad", "missing"}) {
        for (const Json& path : result.value(kind, Json::array()))
            console.out(std::string(kind) + "  " + printable(path.get<std::string>()) + "\n");
    }
    return wrong == 0 ? Done : Failed;
}

int removeModel(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one model"});
    const std::string model = arguments.positional().front();
    Session session;
    const bool oneRevision = model.find('@') != std::string::npos;
    const auto answer = session.call("models.rm",
        Json{{"model", model}, {"all", !oneRevision}, {"loose", arguments.has("--loose")},
            {"force", arguments.has("--force")}});
    return printOutcome(
        answer, console, [](const Json& body) { return bytes(integerOr(body, "freed")) + " freed"; });
}

int changeDownload(const std::string& method, const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() > 1 || (arguments.positional().empty() && !arguments.has("--all")))
        return console.fail(Error{"usage", "give one download's id or model, or --all"});
    Session session;
    Json params = Json::object();
    if (!arguments.has("--all")) {
        // By id, or by the model's name.
        const std::string wanted = arguments.positional().front();
        const auto now = session.call("state.subscribe", Json{{"topics", Json::array({"models"})}});
        if (!now)
            return console.fail(now.error());
        params["download"] = wanted;
        const Json items = objectOr(objectOr(objectOr(now->body, "topics"), "models"), "items");
        for (const auto& [id, item] : items.items()) {
            if (stringOr(item, "repo") == wanted)
                params["download"] = id;
        }
    }
    const auto answer = session.call(method, std::move(params));
    return answer ? Done : console.fail(answer.error());
}

} // namespace

std::vector<Command> modelCommands()
{
    const Option all{"--all", "", "every download"};
    return {
        {"models get", "MODEL", "Fetch a model into the shared cache; it goes on when you leave",
            {{"--include", "PATTERN", "only these files", true},
                {"--exclude", "PATTERN", "without these", true},
                {"--priority", "N", "higher ones come first (0)"}, {"--detach", "", "do not wait"}},
            getModel},
        {"models ls", "", "List what is in the cache", {}, listModels},
        {"models show", "MODEL", "Files, size and parameters of a model, also before it is fetched", {},
            showModel},
        {"models verify", "MODEL", "Compare every file with its hash",
            {{"--repair", "", "delete what is wrong, so that get fetches it anew"}}, verifyModel},
        {"models rm", "MODEL", "Delete a model (MODEL@REVISION: one revision) from the cache",
            {{"--loose", "", "only unfinished and unused files"},
                {"--force", "", "also while a sandbox uses it"}},
            removeModel},
        {"models pause", "[DOWNLOAD]", "Pause a download", {all},
            [](const Arguments& arguments, Console& console) {
                return changeDownload("models.pause", arguments, console);
            }},
        {"models resume", "[DOWNLOAD]", "Resume a download, or look again whether access was granted", {all},
            [](const Arguments& arguments, Console& console) {
                return changeDownload("models.resume", arguments, console);
            }},
    };
}

} // namespace gb::cli
