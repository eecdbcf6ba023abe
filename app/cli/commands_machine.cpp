// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <backend/base/paths.h>

#include "command.h"

namespace gb::cli {
namespace {

int openWindow(const Arguments& arguments, Console& console)
{
    const std::string program = (programFolder() / "glovebox-gui").string();
    std::vector<std::string> words{program};
    if (!arguments.positional().empty()) {
        words.emplace_back("--experiment");
        words.push_back(fs::absolute(arguments.positional().front()).lexically_normal().string());
    }
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    return console.fail(Error{"gui.missing",
        std::string("cannot start the window: ") + std::strerror(errno)
            + "; build it with ./run --build (a --headless build has none)"});
}

} // namespace

std::vector<Command> machineCommands()
{
    return {
        {"gui", "[DIR]", "Open the window, on an experiment if one is given", {}, openWindow},
    };
}

} // namespace gb::cli
