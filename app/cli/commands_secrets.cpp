// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <termios.h>
#include <unistd.h>

#include "command.h"
#include "listing.h"
#include "session.h"

namespace gb::cli {
namespace {

// From standard input, never from the command line, which every user of the machine can read. Typed, it is
// not shown.
std::string readSecret(const std::string& name)
{
    termios before{};
    const bool typed = ::isatty(STDIN_FILENO) && ::tcgetattr(STDIN_FILENO, &before) == 0;
    if (typed) {
        std::fprintf(stderr, "%s: ", printable(name).c_str());
        termios hidden = before;
        hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
    std::string value;
    for (int c = std::getchar(); c != EOF && !(typed && c == '\n'); c = std::getchar())
        value += static_cast<char>(c);
    if (typed) {
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        std::fputs("\n", stderr);
    }
    while (value.ends_with('\n') || value.ends_with('\r'))
        value.pop_back();
    return value;
}

int listSecrets(const Arguments&, Console& console)
{
    return printListing(
        {"secrets.list", "secrets", {"name", "where", "set"},
            [](const Json& secret) -> std::vector<std::string> {
                const std::string where = stringOr(secret, "store") == "key_store" ? "key store" : "file";
                return {stringOr(secret, "name"), where + (boolOr(secret, "known") ? "" : " (locked)"),
                    ago(integerOr(secret, "set_at"))};
            },
            "No secrets yet; `glovebox secrets set HF_TOKEN` keeps one."},
        Json::object(), console);
}

int setSecret(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one name; the value is read from standard input"});
    const std::string& name = arguments.positional().front();
    Session session;
    return printOutcome(
        session.call("secrets.set", Json{{"name", name}, {"value", readSecret(name)}}), console);
}

int clearSecret(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 1)
        return console.fail(Error{"usage", "give one name; see: glovebox secrets ls"});
    Session session;
    return printOutcome(
        session.call("secrets.clear", Json{{"name", arguments.positional().front()}}), console);
}

} // namespace

std::vector<Command> secretCommands()
{
    return {
        {"secrets ls", "", "List which tokens and keys are kept, and where", {}, listSecrets},
        {"secrets set", "NAME", "Keep a token or key; its value is read from standard input", {}, setSecret},
        {"secrets rm", "NAME", "Forget one", {}, clearSecret},
    };
}

} // namespace gb::cli
