// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "endsignals.h"

#include <cerrno>
#include <csignal>

#include <sys/signalfd.h>

namespace gb::rpc {

Result<UniqueFd> catchEndSignals()
{
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGINT);
    ::sigaddset(&set, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    UniqueFd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals.valid())
        return failErrno("cannot watch", "signals", errno);
    return signals;
}

} // namespace gb::rpc
