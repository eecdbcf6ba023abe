// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>

#include <QObject>

#include <termios.h>

namespace gb::cli {

// The person's terminal handed to a command elsewhere: every key, Ctrl+C too, goes to it, until this is gone.
class RawTerminal
{
public:
    struct Size
    {
        int rows = 24;
        int columns = 80;
    };

    RawTerminal(); // does nothing where standard input is no terminal
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

    static Size size();
    // `action` is called after every change of the window's size, as long as `guard` lives.
    static void onResize(QObject* guard, std::function<void()> action);

private:
    std::optional<termios> m_before;
};

} // namespace gb::cli
