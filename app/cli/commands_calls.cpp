// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include <unistd.h>

#include "calltext.h"
#include "command.h"
#include "listing.h"
#include "session.h"
#include "terminal.h"

#include <backend/base/ids.h>
#include <backend/domain/resultdiff.h>

namespace gb::cli {
namespace {

constexpr std::size_t linesShown = 40;

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
    return printListing({"interfaces.list", "interfaces", {"name", "state", "functions", "file", "id"},
                            [](const Json& item) -> std::vector<std::string> {
                                return {printable(stringOr(item, "name")), stringOr(item, "state"),
                                    std::to_string(integerOr(item, "functions")),
                                    printable(stringOr(item, "source")), stringOr(item, "id").substr(0, 13)};
                            },
                            "Nothing is served. Start with: glovebox serve interface.py"},
        Json::object(), console);
}

// Within one column, no letter cut in two.
std::string shortened(const std::string& text, std::size_t most)
{
    std::string shown = printable(text);
    std::ranges::replace(shown, '\n', ' ');
    if (shown.size() <= most)
        return shown;
    while (most > 0 && (static_cast<unsigned char>(shown[most]) & 0xC0U) == 0x80U)
        --most;
    return shown.substr(0, most) + "…";
}

// What a call was given, as it is typed after `calls run`.
std::string argumentsText(const Json& call)
{
    const Json given = objectOr(call, "args");
    std::string text;
    const auto add = [&text](const std::string& name, const Json& value) {
        text += (text.empty() ? "" : " ") + name
            + (value.is_string() ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace));
    };
    for (const Json& value : given.value("args", Json::array()))
        add("", value);
    const Json named = objectOr(given, "kwargs");
    for (const auto& [name, value] : named.items())
        add(name + "=", value);
    return text;
}

// A call by its id or the end of it (the ids of one minute begin alike), or the newest one: "last".
Result<std::string> findCall(Session& session, const std::string& wanted)
{
    constexpr std::size_t wholeId = 36;
    if (wanted.size() >= wholeId)
        return wanted;
    const auto answer = session.call("calls.list", Json{{"limit", wanted == "last" ? 1 : 1000}});
    if (!answer)
        return fail(answer.error());
    std::vector<std::string> found;
    for (const Json& call : answer->body.value("calls", Json::array()))
        if (const std::string id = stringOr(call, "id"); wanted == "last" || id.ends_with(wanted))
            found.push_back(id);
    if (found.size() == 1)
        return found.front();
    if (found.empty())
        return fail("calls.unknown",
            wanted == "last" ? "there are no calls yet" : "none of the newest calls has this id: " + wanted);
    return fail("calls.ambiguous",
        std::to_string(found.size()) + " calls end with " + wanted + "; give more of the id");
}

int listCalls(const Arguments& arguments, Console& console)
{
    const auto limit = arguments.integer("--limit", 50);
    if (!limit)
        return console.fail(limit.error());
    std::string filter;
    for (const std::string& word : arguments.positional())
        filter += (filter.empty() ? "" : " ") + word;
    return printListing(
        {"calls.list", "calls", {"call", "when", "function", "arguments", "by", "state", "took", "result"},
            [](const Json& call) -> std::vector<std::string> {
                return {stringOr(call, "id"), ago(integerOr(call, "at")), printable(stringOr(call, "fn")),
                    shortened(argumentsText(call), 40), stringOr(objectOr(call, "caller"), "kind"),
                    stringOr(call, "state"), duration(integerOr(call, "duration_ns")),
                    shortened(stringOr(call, "preview"), 60)};
            },
            filter.empty() ? "No calls yet. Make one: glovebox calls run FUNCTION name=value…"
                           : "No call fits this filter. All of them: glovebox calls ls"},
        Json{{"filter", filter}, {"limit", *limit}}, console);
}

int showCall(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one call; see: glovebox calls ls"});
    Session session;
    const auto call = findCall(session, arguments.positional().front());
    const auto answer = call ? session.call("calls.get", Json{{"call", *call}})
                             : Result<api::Client::Answer>(fail(call.error()));
    if (!answer)
        return console.fail(answer.error());
    if (!console.json()) {
        constexpr std::size_t columnsOfFiles = 160;
        const std::size_t columns = ::isatty(STDOUT_FILENO)
            ? static_cast<std::size_t>(std::max(RawTerminal::size().columns, 40))
            : columnsOfFiles;
        console.out(callText(answer->body, answer->attachment, console,
            arguments.has("--whole") ? TextRoom::whole() : TextRoom{columns, linesShown}));
        return Done;
    }
    Json record = answer->body;
    if (!answer->attachment.empty())
        record["result"] = Json::parse(answer->attachment, nullptr, false);
    console.printLine(record);
    return Done;
}

// What a function yields, printed as it comes: one value a line. The result in the end is the list of all of
// them, so only what was not printed by then is left to say.
class ItemPrinter
{
public:
    ItemPrinter(Session& session, const Console& console) : m_console(console)
    {
        QObject::connect(&session.client(), &api::Client::notified, &m_guard,
            [this](const QString& method, const Json& params, const QByteArray& text) {
                if (method == QStringLiteral("calls.event") && stringOr(params, "event") == "item")
                    take(integerOr(params, "index"), text);
            });
    }

    bool any() const { return m_any; }

    void printRest(const std::string& result) const
    {
        const Json items = Json::parse(result, nullptr, false);
        for (auto left = static_cast<std::size_t>(m_printed); items.is_array() && left < items.size(); ++left)
            m_console.printLine(items[left]);
    }

private:
    // One that is too large for a notification, or left out because we read too slowly, comes with the
    // result.
    void take(std::int64_t index, const QByteArray& text)
    {
        m_any = true;
        if (index != m_printed || text.isEmpty())
            return;
        ++m_printed;
        m_console.out(text.toStdString() + "\n");
    }

    QObject m_guard;
    const Console& m_console;
    std::int64_t m_printed = 0;
    bool m_any = false;
};

// A note ends its own line.
std::string withoutEnd(std::string text)
{
    if (text.ends_with('\n'))
        text.pop_back();
    return text;
}

std::string counted(std::size_t count, const char* one, const char* more)
{
    return std::to_string(count) + " " + (count == 1 ? one : more);
}

int finishCall(
    Console& console, const Result<api::Client::Answer>& answer, const ItemPrinter* items = nullptr)
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
        console.note(printable(withoutEnd(stringOr(piece, "text"))));
    if (good && items && items->any()) {
        items->printRest(answer->attachment);
        return Done;
    }
    if (good) {
        console.out(
            (answer->attachment.empty() ? record.value("result", Json()).dump() : answer->attachment) + "\n");
        return Done;
    }
    const Json error = objectOr(record, "error");
    const std::string type = stringOr(error, "type");
    console.error(printable((type.empty() ? "" : type + ": ") + stringOr(error, "message")));
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

void saysItGoesOn(const Console& console)
{
    console.note("The daemon went away. The call goes on; waiting for its result.");
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
    // A program gets one object with everything in it.
    std::optional<ItemPrinter> items;
    if (!console.json())
        items.emplace(session, console);
    return finishCall(console,
        session.callThrough("calls.run",
            Json{{"interface", *interface}, {"fn", arguments.positional().front()}, {"args", Json::array()},
                {"kwargs", *named}},
            [&console] { saysItGoesOn(console); }),
        items ? &*items : nullptr);
}

int resendCall(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one call; see: glovebox calls ls"});
    Session session;
    const auto call = findCall(session, arguments.positional().front());
    if (!call)
        return console.fail(call.error());
    const auto old = session.call("calls.get", Json{{"call", *call}});
    if (!old)
        return console.fail(old.error());
    const Json served = objectOr(old->body, "interface");
    const Json given = objectOr(old->body, "args");
    const auto interface = findInterface(session, stringOr(served, "name"));
    if (!interface)
        return console.fail(interface.error());
    return finishCall(console,
        session.callThrough("calls.run",
            Json{{"interface", *interface}, {"fn", stringOr(old->body, "fn")},
                {"args", given.value("args", Json::array())}, {"kwargs", objectOr(given, "kwargs")}},
            [&console] { saysItGoesOn(console); }));
}

// What a call gave back, as text: its result, or the error it ended with.
Result<std::string> outcomeOf(Session& session, const std::string& wanted)
{
    const auto found = findCall(session, wanted);
    if (!found)
        return fail(found.error());
    const std::string& call = *found;
    const auto answer = session.call("calls.get", Json{{"call", call}});
    if (!answer)
        return fail(answer.error());
    if (stringOr(answer->body, "state") != "ok")
        return objectOr(answer->body, "error").dump();
    if (!answer->attachment.empty())
        return answer->attachment;
    if (boolOr(answer->body, "result_cut"))
        return fail("diff.cut", "the result of " + call + " was too large to keep; pin calls to keep theirs");
    return answer->body.value("result", Json()).dump();
}

void printWords(const ResultDiff& diff, Console& console)
{
    std::string text;
    for (const auto& part : diff.words) {
        const std::string words = printable(part.text);
        if (!part.kind)
            text += words;
        else if (*part.kind == ResultDiff::Kind::Removed)
            text += console.painted("31", "[-" + words + "-]");
        else
            text += console.painted("32", "{+" + words + "+}");
    }
    console.out(text + "\n");
}

int diffCalls(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 2)
        return console.fail(Error{"usage", "give two calls; see: glovebox calls ls"});
    Session session;
    const auto left = outcomeOf(session, arguments.positional()[0]);
    const auto right = left ? outcomeOf(session, arguments.positional()[1]) : left;
    if (!left || !right)
        return console.fail(left ? right.error() : left.error());
    DiffTolerance tolerance;
    if (const std::string given = arguments.value("--tolerance"); !given.empty()) {
        const auto number = parseJson(given);
        if (!number || !number->is_number() || number->get<double>() < 0)
            return console.fail(Error{"usage", "--tolerance takes a number, for example 1e-3"});
        tolerance = {number->get<double>(), number->get<double>()};
    }
    const auto diff = diffResults(std::string_view(*left), std::string_view(*right), tolerance);
    if (!diff)
        return console.fail(diff.error());
    if (console.json()) {
        console.print(toJson(*diff));
        return diff->same() ? Done : Failed;
    }
    if (!diff->words.empty()) {
        printWords(*diff, console);
    } else {
        std::vector<std::vector<std::string>> rows;
        for (const auto& line : diff->lines)
            rows.push_back({printable(line.path), printable(line.left), printable(line.right)});
        if (!rows.empty())
            console.table({"where", "first", "second"}, rows);
    }
    console.note(diff->same()
            ? "The results are the same."
            : counted(static_cast<std::size_t>(diff->total), "difference.", "differences."));
    if (diff->numbers)
        console.note(counted(static_cast<std::size_t>(diff->numbers->count), "number", "numbers")
            + ": greatest difference " + Json(diff->numbers->greatest).dump() + ", mean "
            + Json(diff->numbers->mean).dump() + ", cosine " + Json(diff->numbers->cosine).dump());
    return diff->same() ? Done : Failed;
}

} // namespace

std::vector<Command> callCommands()
{
    return {
        {"interfaces", "", "List what is served", {}, listInterfaces},
        {"calls ls", "[FILTER…]", "List calls, newest first, for example: status:error fn:steer dur:>500ms",
            {{"--limit", "N", "at most this many (50)"}}, listCalls},
        {"calls show", "CALL", "Show one call; CALL is an id, the end of one, or last",
            {{"--whole", "", "cut nothing, however long"}}, showCall},
        {"calls run", "FUNCTION [name=value…]", "Call a served function",
            {{"--interface", "NAME", "which one, when several are served"},
                {"--kwargs", "JSON", "all arguments as one JSON object"}},
            runCall},
        {"calls resend", "CALL", "Make the same call again", {}, resendCall},
        {"calls diff", "CALL CALL", "Compare two results; exit code 1 when they differ",
            {{"--tolerance", "X", "numbers closer than this, absolute and relative, are equal (1e-6)"}},
            diffCalls},
    };
}

} // namespace gb::cli
