// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/api/examplestart.h>
#include <backend/base/files.h>

#include "arguments.h"
#include "console.h"
#include "session.h"

namespace gb::cli {

// An example from the beginning to the end: experiment, sandbox, interface, calls by hand, by a script with
// the generated library and by an MCP client; then everything is stopped and deleted, but for the record of
// the calls.
class Demo
{
public:
    Demo(Session& session, Console& console, const Arguments& arguments);

    Status run();
    // Whatever run() reached.
    Status takeDown();
    // The last lines, or with --json everything as one object.
    void conclude();

private:
    Status chooseExample();
    Json wantedModel() const;
    Status checkModules();
    Status start();
    Status tellStart(const api::ExampleStart::Outcome& made, std::int64_t begin, std::int64_t started);
    Status callByHand();
    Status callByScript();
    Status callOverMcp();
    void waitForTheEnd();

    // What a program is told on its standard input, which stays open until so many lines came back.
    struct Input
    {
        std::string text;
        int answers = 0;
    };

    void say(std::string_view label, std::string_view text);
    Result<std::string> output(const std::string& program, const std::vector<std::string>& words,
        const std::vector<std::pair<std::string, std::string>>& environment, const Input& input);
    Result<std::string> exposeAs(const std::string& form);

    Session& m_session;
    Console& m_console;
    const Arguments& m_arguments;
    Json m_about = Json::object(); // what example.json says
    std::string m_example;
    std::string m_python;
    fs::path m_folder;
    std::string m_sandbox;
    std::string m_interface;
    Json m_story = Json::object();
    std::int64_t m_begin;
};

} // namespace gb::cli
