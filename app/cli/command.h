// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "arguments.h"
#include "console.h"

namespace gb::cli {

enum ExitCode { Done = 0, Failed = 1, WrongUse = 2, Interrupted = 130 };

struct Command
{
    std::string name; // "daemon status"
    std::string usage; // what follows the name: "DIR [--example NAME]"
    std::string summary;
    std::vector<Option> options; // --json and --help are always there
    std::function<int(const Arguments&, Console&)> run;
    std::size_t plainFrom = std::string::npos; // see Arguments::parse
};

// Every command, in the order help shows them. The files commands_*.cpp add theirs.
const std::vector<Command>& allCommands();

std::vector<Command> daemonCommands();
std::vector<Command> experimentCommands();
std::vector<Command> settingsCommands();
std::vector<Command> secretCommands();
std::vector<Command> eventCommands();
std::vector<Command> machineCommands();
std::vector<Command> serveCommands();
std::vector<Command> callCommands();
std::vector<Command> exposeCommands();
std::vector<Command> modelCommands();
std::vector<Command> sandboxCommands();
std::vector<Command> demoCommands();
std::vector<Command> helpCommands();

// Finds the command, parses its arguments, runs it.
int runCommand(const std::vector<std::string>& words);

} // namespace gb::cli
