// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include <QObject>

#include "session.h"

namespace gb::cli {

class Console;

// Tells whoever follows a sandbox, once for each end that comes near, that its time is nearly over.
class EndWarning
{
public:
    enum class Screen { Lines, Raw };

    // Watches by the session's connection for as long as it lives.
    EndWarning(Session& session, std::string sandbox, const Console& console, Screen screen = Screen::Lines);
    EndWarning(const EndWarning&) = delete;
    EndWarning& operator=(const EndWarning&) = delete;

private:
    void look();

    QObject m_guard;
    Session& m_session;
    std::string m_sandbox;
    const Console& m_console;
    Screen m_screen;
    bool m_hasTold = false;
};

} // namespace gb::cli
