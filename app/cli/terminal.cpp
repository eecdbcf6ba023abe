// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "terminal.h"

#include <csignal>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <QSocketNotifier>

namespace gb::cli {
namespace {

int resizePipe[2] = {-1, -1};

void noteResize(int)
{
    const int before = errno;
    const char byte = 0;
    // A full pipe is as good: the notifier fires either way.
    [[maybe_unused]] const auto written = ::write(resizePipe[1], &byte, 1);
    errno = before;
}

} // namespace

RawTerminal::RawTerminal()
{
    termios mode{};
    if (::tcgetattr(STDIN_FILENO, &mode) != 0)
        return;
    m_before = mode;
    ::cfmakeraw(&mode);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

RawTerminal::~RawTerminal()
{
    if (m_before)
        ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*m_before);
}

RawTerminal::Size RawTerminal::size()
{
    for (const int fd : {STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO}) {
        winsize window{};
        if (::ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_row > 0 && window.ws_col > 0)
            return {window.ws_row, window.ws_col};
    }
    return {};
}

void RawTerminal::onResize(QObject* guard, std::function<void()> action)
{
    if (resizePipe[0] < 0) {
        if (::pipe2(resizePipe, O_CLOEXEC | O_NONBLOCK) != 0)
            return;
        struct sigaction handler
        { };
        handler.sa_handler = noteResize;
        handler.sa_flags = SA_RESTART;
        ::sigaction(SIGWINCH, &handler, nullptr);
    }
    auto* notifier = new QSocketNotifier(resizePipe[0], QSocketNotifier::Read, guard);
    QObject::connect(notifier, &QSocketNotifier::activated, guard, [action = std::move(action)] {
        char bytes[64];
        while (::read(resizePipe[0], bytes, sizeof bytes) > 0) { }
        action();
    });
}

} // namespace gb::cli
