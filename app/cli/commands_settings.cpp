// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "command.h"
#include "listing.h"
#include "session.h"

namespace gb::cli {
namespace {

std::string shown(const Json& value)
{
    return value.is_string() ? printable(value.get<std::string>())
                             : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int listSettings(const Arguments&, Console& console)
{
    return printListing(
        {"settings.list", "settings", {"setting", "value", "what it is"},
            [](const Json& item) -> std::vector<std::string> {
                const bool changed = item.value("value", Json()) != item.value("default", Json());
                return {stringOr(item, "key"), shown(item.value("value", Json())) + (changed ? " *" : ""),
                    stringOr(item, "description")};
            },
            {}},
        Json::object(), console);
}

int getSetting(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one setting; see: glovebox settings ls"});
    Session session;
    const auto answer = session.call("settings.get", Json{{"key", arguments.positional().front()}});
    if (!answer)
        return console.fail(answer.error());
    console.json() ? console.print(answer->body)
                   : console.out(shown(answer->body.value("value", Json())) + "\n");
    return Done;
}

int setSetting(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 2)
        return console.fail(Error{"usage", "give a setting and its value"});
    // `true`, `12` and `"a b"` are JSON; anything else is the text itself.
    const std::string& text = arguments.positional()[1];
    Json value = parseJson(text).value_or(Json(text));
    Session session;
    auto answer = session.call("settings.set", Json{{"key", arguments.positional()[0]}, {"value", value}});
    if (!answer && answer.error().code == "settings.type" && !value.is_string())
        answer = session.call("settings.set", Json{{"key", arguments.positional()[0]}, {"value", text}});
    return printOutcome(answer, console);
}

} // namespace

std::vector<Command> settingsCommands()
{
    return {
        {"settings ls", "", "List settings; * marks what differs from its default", {}, listSettings},
        {"settings get", "KEY", "Print one setting", {}, getSetting},
        {"settings set", "KEY VALUE", "Change one setting", {}, setSetting},
    };
}

} // namespace gb::cli
