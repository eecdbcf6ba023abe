// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "command.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include <backend/base/nearest.h>

namespace gb::cli {
namespace {

std::vector<std::string> split(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

// The command with the longest name that the words begin with.
const Command* findCommand(const std::vector<std::string>& words, std::size_t* length)
{
    const Command* best = nullptr;
    *length = 0;
    for (const Command& command : allCommands()) {
        const std::vector<std::string> name = split(command.name);
        if (name.size() > *length && name.size() <= words.size()
            && std::equal(name.begin(), name.end(), words.begin())) {
            best = &command;
            *length = name.size();
        }
    }
    return best;
}

void printUsage(const Command& command, Console& console)
{
    console.out("glovebox " + command.name + (command.usage.empty() ? "" : " " + command.usage) + "\n");
    console.out("  " + command.summary + "\n");
    std::vector<Option> options = command.options;
    options.push_back({"--json", "", "print JSON", false});
    for (const Option& option : options) {
        std::string left = "  " + option.name + (option.letter ? std::string(", -") + option.letter : "")
            + (option.value.empty() ? "" : " " + option.value);
        left.resize(std::max<std::size_t>(left.size() + 2, 24), ' ');
        console.out(left + option.summary + "\n");
    }
}

std::string firstWord(const std::string& name)
{
    return name.substr(0, name.find(' '));
}

int unknownCommand(const std::vector<std::string>& words)
{
    Console console(false);
    std::string members;
    std::vector<std::string> known;
    for (const Command& command : allCommands()) {
        known.push_back(firstWord(command.name));
        if (known.back() == words.front())
            members += "\n  glovebox " + command.name + (command.usage.empty() ? "" : " " + command.usage);
    }
    if (members.empty()) {
        const std::string nearest = nearestName(words.front(), known);
        console.error("there is no command \"" + printable(words.front()) + "\"; "
            + (nearest.empty() ? "see: glovebox help" : "did you mean: glovebox " + nearest));
    } else if (words.size() > 1 && !words[1].starts_with('-')) {
        console.error(
            "there is no command \"" + printable(words[0] + " " + words[1]) + "\"; there are:" + members);
    } else {
        console.error(words.front() + " what? There are:" + members);
    }
    return WrongUse;
}

} // namespace

const std::vector<Command>& allCommands()
{
    static const std::vector<Command> commands = [] {
        std::vector<Command> all;
        for (auto part : {machineCommands, demoCommands, daemonCommands, experimentCommands, serveCommands,
                 callCommands, exposeCommands, sandboxCommands, modelCommands, eventCommands,
                 settingsCommands, secretCommands, helpCommands}) {
            for (Command& command : part())
                all.push_back(std::move(command));
        }
        return all;
    }();
    return commands;
}

int runCommand(const std::vector<std::string>& words)
{
    if (words.empty() || words.front() == "--help" || words.front() == "-h")
        return runCommand({"help"});
    if (words.front() == "--version")
        return runCommand({"version"});
    std::size_t length = 0;
    const Command* command = findCommand(words, &length);
    if (!command)
        return unknownCommand(words);

    std::vector<Option> options = command->options;
    options.push_back({"--json", "", "", false});
    options.push_back({"--help", "", "", false});
    const std::vector<std::string> rest(words.begin() + static_cast<long>(length), words.end());
    const auto arguments = Arguments::parse(options, rest, command->plainFrom);
    Console console(arguments && arguments->has("--json"));
    if (!arguments) {
        console.error(arguments.error().message);
        printUsage(*command, console);
        return WrongUse;
    }
    if (arguments->has("--help")) {
        printUsage(*command, console);
        return Done;
    }
    return command->run(*arguments, console);
}

} // namespace gb::cli
