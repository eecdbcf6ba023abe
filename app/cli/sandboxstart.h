// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arguments.h"
#include "console.h"
#include "session.h"

namespace gb::cli {

int planSandbox(const Arguments& arguments, Console& console);
int startSandbox(const Arguments& arguments, Console& console);

// Starts what is asked for and waits until it is ready; its steps appear on standard error. When interrupted
// the start is cancelled, and what it made is gone by the time this returns.
Result<Json> startAndWait(Session& session, Json params, Console& console);
// Waits until nothing of it runs.
Status stopAndWait(Session& session, const std::string& sandbox, Console& console);

// Progress of a job, step by step: on a terminal one line drawn over, which stays with its time when the next
// step begins; elsewhere a line per step, and one every ten per cent of a download.
class StepLines
{
public:
    explicit StepLines(const Console& console);

    void show(const Json& job);
    void end();

private:
    void draw(const Json& job);
    void notePart(const Json& job);

    const Console& m_console;
    bool m_terminal;
    std::string m_step;
    std::string m_part; // what was said last about what the step moves
    std::int64_t m_since = 0;
};

} // namespace gb::cli
