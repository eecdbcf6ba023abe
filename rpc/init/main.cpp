// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include "server.h"

// glovebox-init FD: process 1 of a sandbox. FD is the inherited end of the keeper's socket pair.
int main(int argc, char** argv)
{
    constexpr int usage = 2;
    const int link = argc == 2 ? std::atoi(argv[1]) : -1;
    if (link < 3 || ::fcntl(link, F_GETFD) < 0)
        return usage;
    // Commands run under the same user id: without this they could read our memory and descriptors.
    ::prctl(PR_SET_DUMPABLE, 0);
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t children;
    ::sigemptyset(&children);
    ::sigaddset(&children, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &children, nullptr);
    const int signals = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return usage;
    gb::init::Server(link, signals).run();
    return 0;
}
