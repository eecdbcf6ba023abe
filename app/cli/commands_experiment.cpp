// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/paths.h>

#include "command.h"
#include "listing.h"
#include "session.h"

namespace gb::cli {
namespace {

int finish(Console& console, const Result<api::Client::Answer>& answer, const std::string& sentence)
{
    if (!answer)
        return console.fail(answer.error());
    if (console.json())
        console.print(answer->body);
    else
        console.out(sentence + " " + printable(stringOr(answer->body, "path")) + "\n");
    return Done;
}

int makeExperiment(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give the folder of the new experiment"});
    Session session;
    Json params{{"path", fs::absolute(arguments.positional().front()).lexically_normal().string()}};
    if (arguments.has("--example"))
        params["example"] = arguments.value("--example");
    return finish(console, session.call("experiments.new", params), "made");
}

int openExperiment(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() > 1)
        return console.fail(Error{"usage", "give one folder"});
    const std::string folder = arguments.positional().empty() ? "." : arguments.positional().front();
    Session session;
    return finish(console,
        session.call("experiments.open", Json{{"path", fs::absolute(folder).lexically_normal().string()}}),
        "opened");
}

int listExperiments(const Arguments&, Console& console)
{
    return printListing({"experiments.list", "experiments", {"name", "folder", "opened"},
                            [](const Json& item) -> std::vector<std::string> {
                                return {printable(stringOr(item, "name")), printable(stringOr(item, "path")),
                                    item.contains("opened_at") ? ago(integerOr(item, "opened_at")) : ""};
                            },
                            "No experiments yet. Make one: glovebox experiment new DIR --example hello"},
        Json::object(), console);
}

} // namespace

std::vector<Command> experimentCommands()
{
    return {
        {"experiment new", "DIR [--example NAME]", "Make an experiment folder",
            {{"--example", "NAME", "start from an example, for instance hello"}}, makeExperiment},
        {"experiment open", "[DIR]", "Remember a folder among the recent experiments", {}, openExperiment},
        {"experiment ls", "", "List recent experiments", {}, listExperiments},
    };
}

} // namespace gb::cli
