// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "command.h"
#include "demo.h"
#include "session.h"

namespace gb::cli {
namespace {

int runDemo(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() > 1)
        return console.fail(Error{"usage", "give at most one example"});
    Session session;
    Demo demo(session, console, arguments);
    const Status shown = demo.run();
    const Status takenDown = demo.takeDown();
    if (!shown || !takenDown)
        return console.fail(shown ? takenDown.error() : shown.error());
    demo.conclude();
    return Done;
}

} // namespace

std::vector<Command> demoCommands()
{
    return {
        {"demo", "[EXAMPLE]", "Show all of it in a minute: an example in a sandbox, called in three ways",
            {{"--python", "PY", "the Python of yours that the sandbox uses"},
                {"--model", "NAME[=DIR]", "the model, for examples that need one (scoped-intro)"}},
            runDemo},
    };
}

} // namespace gb::cli
