// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <algorithm>

#include <backend/base/paths.h>
#include <backend/doctor/doctor.h>

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

std::string mark(Check::State state, const Console& console)
{
    switch (state) {
    case Check::State::Ok:
        return console.painted("32", "ok     ");
    case Check::State::Warning:
        return console.painted("33", "warning");
    case Check::State::Failed:
        break;
    }
    return console.painted("31", "failed ");
}

// Looks at this machine itself, without the daemon: it must answer where nothing else works.
int examine(const Arguments& arguments, Console& console)
{
    DoctorOptions options;
    options.dataFolder = dataFolder();
    options.environment = processEnvironment();
    options.only = arguments.value("--only");
    options.askHub = !arguments.has("--offline");
    const std::vector<Check> checks = runDoctor(options);
    if (console.json()) {
        console.print(checksJson(checks));
    } else {
        for (const Check& check : checks) {
            console.out(mark(check.state, console) + "  " + printable(check.title)
                + (check.detail.empty() ? "" : ": " + printable(check.detail)) + "\n");
            if (check.state == Check::State::Ok)
                continue;
            console.out("         " + printable(check.meaning) + "\n");
            if (!check.fix.empty())
                console.out("         fix: " + console.painted("1", printable(check.fix)) + "\n");
        }
    }
    const bool broken = std::any_of(
        checks.begin(), checks.end(), [](const Check& check) { return check.state == Check::State::Failed; });
    return broken && arguments.has("--strict") ? Failed : Done;
}

} // namespace

std::vector<Command> machineCommands()
{
    return {
        {"doctor", "", "Check this machine; every finding comes with what it means and how to fix it",
            {{"--only", "CHECK", "one check, by its id"}, {"--offline", "", "do not ask the model hub"},
                {"--strict", "", "exit code 1 when a check failed"}},
            examine},
        {"gui", "[DIR]", "Open the window, on an experiment if one is given", {}, openWindow},
    };
}

} // namespace gb::cli
