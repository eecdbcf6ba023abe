// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "command.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

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

int unknownCommand(const std::vector<std::string>& words)
{
    Console console(false);
    std::string near;
    for (const Command& command : allCommands()) {
        if (command.name.starts_with(words.front()))
            near += "\n  glovebox " + command.name + (command.usage.empty() ? "" : " " + command.usage);
    }
    if (near.empty())
        console.error("there is no command \"" + words.front() + "\"; see: glovebox help");
    else
        console.error("which of these?" + near);
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
