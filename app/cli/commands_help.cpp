// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "command.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <QDir>
#include <QFile>

#include <backend/api/daemonstart.h>
#include <backend/base/errorhelp.h>
#include <backend/base/paths.h>
#include <backend/base/version.h>

namespace gb::cli {
namespace {

// What the help pages say about errors.
std::vector<ErrorHelp> allErrors()
{
    std::vector<ErrorHelp> rows;
    const QDir pages(QStringLiteral(":/glovebox/help"));
    for (const auto& name : pages.entryList(QDir::Files)) {
        QFile page(pages.filePath(name));
        if (page.open(QIODevice::ReadOnly))
            std::ranges::move(errorHelpIn(page.readAll().toStdString()), std::back_inserter(rows));
    }
    return rows;
}

// A code, the beginning of several ("presets."), or nothing for all of them.
int explainErrors(const std::string& wanted, Console& console)
{
    std::vector<std::vector<std::string>> rows;
    Json found = Json::array();
    for (const ErrorHelp& row : allErrors())
        for (const std::string& code : row.codes) {
            if (code != wanted && !(code.starts_with(wanted) && (wanted.empty() || wanted.ends_with('.'))))
                continue;
            rows.push_back({code, row.text});
            found.push_back({{"code", code}, {"text", row.text}});
        }
    if (rows.empty())
        return console.fail(Error{"usage",
            "there is no command and no error called " + wanted
                + "; glovebox help lists commands, glovebox help errors lists errors"});
    if (console.json())
        console.print(Json{{"errors", found}});
    else if (rows.size() == 1)
        console.out(rows.front().front() + ": " + rows.front().back() + "\n");
    else
        console.table({"code", "what to do"}, rows);
    return Done;
}

bool isCommand(const std::string& word)
{
    return std::ranges::any_of(allCommands(),
        [&word](const Command& command) { return command.name.substr(0, command.name.find(' ')) == word; });
}

int showHelp(const Arguments& arguments, Console& console)
{
    if (!arguments.positional().empty()) {
        std::vector<std::string> words = arguments.positional();
        if (words.front() == "errors" && words.size() <= 2)
            return explainErrors(words.size() == 2 ? words.back() : std::string(), console);
        if (words.size() == 1 && !isCommand(words.front()))
            return explainErrors(words.front(), console);
        words.emplace_back("--help");
        return runCommand(words);
    }
    if (console.json()) {
        Json commands = Json::array();
        for (const Command& command : allCommands())
            commands.push_back(
                {{"name", command.name}, {"usage", command.usage}, {"summary", command.summary}});
        console.print(Json{{"commands", commands}});
        return Done;
    }
    console.out(
        "Glovebox: experiments in which an agent works on a model only through what you hand it.\n\n");
    std::vector<std::vector<std::string>> rows;
    std::string before;
    for (const Command& command : allCommands()) {
        const auto space = command.name.find(' ');
        const std::string group = space == std::string::npos ? std::string() : command.name.substr(0, space);
        if (!rows.empty() && group != before)
            rows.emplace_back();
        before = group;
        rows.push_back({"glovebox " + command.name, command.summary});
    }
    console.table({"command", "what it does"}, rows);
    console.out("\nEvery command takes --json and --help. Exit codes: 0 done, 1 failed, 2 wrong use, 130 "
                "interrupted.\n");
    return Done;
}

std::string thisBuild()
{
    const auto program = api::daemonProgram();
    return program ? api::buildId(*program) : std::string("no daemon found");
}

int showVersion(const Arguments&, Console& console)
{
    if (console.json())
        console.print(Json{{"version", version()}, {"build", thisBuild()}});
    else
        console.out("glovebox " + std::string(version()) + " (" + thisBuild() + ")\n");
    return Done;
}

// One function for bash; the words come from the same table as help.
int printCompletion(const Arguments& arguments, Console& console)
{
    if (arguments.positional() != std::vector<std::string>{"bash"})
        return console.fail(Error{"usage", "only bash is known: glovebox completion bash"});
    std::set<std::string> first;
    std::ostringstream second;
    for (const Command& command : allCommands()) {
        std::istringstream name(command.name);
        std::string word;
        std::string next;
        name >> word >> next;
        first.insert(word);
        std::string options = "--json --help";
        for (const Option& option : command.options)
            options += " " + option.name;
        second << "    \"" << command.name << "\") words=\"" << options << "\" ;;\n";
    }
    std::string groups;
    for (const std::string& word : first) {
        std::string members;
        for (const Command& command : allCommands()) {
            if (command.name.starts_with(word + " "))
                members += command.name.substr(word.size() + 1) + " ";
        }
        if (!members.empty())
            groups += "    \"" + word + "\") words=\"" + members + "\" ;;\n";
    }
    std::string all;
    for (const std::string& word : first)
        all += word + " ";
    console.out("_glovebox() {\n  local words=\"\" here=\"${COMP_WORDS[COMP_CWORD]}\"\n"
                "  if [ \"$COMP_CWORD\" -eq 1 ]; then words=\""
        + all
        + "\"; else\n"
          "  local one=\"${COMP_WORDS[1]}\" two=\"\"\n"
          "  [ \"$COMP_CWORD\" -gt 2 ] && two=\"$one ${COMP_WORDS[2]}\"\n"
          "  case \"$two\" in\n"
        + second.str() + "  esac\n  [ -n \"$words\" ] || case \"$one\" in\n" + groups + second.str()
        + "  esac\n  fi\n"
          "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$here\")\n"
          "  [ -n \"$words\" ] && [ \"${here:0:1}\" = - ] || compopt -o default\n}\n"
          "complete -F _glovebox glovebox\n");
    return Done;
}

} // namespace

std::vector<Command> helpCommands()
{
    return {
        {"completion", "bash", "Print a completion script: eval \"$(glovebox completion bash)\"", {},
            printCompletion},
        {"version", "", "Print the version and build", {}, showVersion},
        {"help", "[COMMAND | CODE]", "List commands, explain one, or say what an error means", {}, showHelp},
    };
}

} // namespace gb::cli
