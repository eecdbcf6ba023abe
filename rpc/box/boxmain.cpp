// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxmain.h"

#include <cstdio>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <backend/base/log.h>
#include <backend/base/paths.h>
#include <rpc/keeper/endsignals.h>

#include "boxserver.h"

namespace gb::rpc {
namespace {

int printed(const Json& line)
{
    std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
    return line.contains("error") ? 1 : 0;
}

int refused(const Error& error)
{
    logError("box", error.message, {{"code", error.code}});
    return printed({{"error", error.toJson()}});
}

void watchForOrders(Box& box, int signals, int lifeline)
{
    box.loop().watch(signals, EPOLLIN, [&box, signals](std::uint32_t) {
        signalfd_siginfo info{};
        [[maybe_unused]] const auto ignored = ::read(signals, &info, sizeof info);
        box.end("signal");
    });
    if (lifeline < 0)
        return;
    ::fcntl(lifeline, F_SETFD, FD_CLOEXEC);
    box.loop().watch(lifeline, EPOLLIN, [&box, lifeline](std::uint32_t) {
        char byte = 0;
        if (::read(lifeline, &byte, 1) == 0)
            box.end("signal");
    });
}

} // namespace

int runBox(const Json& sandbox, int lifeline)
{
    // We hold secrets: no other process of our user may look into this one.
    ::prctl(PR_SET_DUMPABLE, 0);
    [[maybe_unused]] const int noFolderHeld = ::chdir("/");
    auto config = BoxConfig::fromJson(sandbox);
    if (!config)
        return refused(config.error());
    const auto sockets = socketFolder(config->dataFolder);
    if (!sockets)
        return refused(sockets.error());
    auto loop = Loop::create();
    auto signals = catchEndSignals();
    if (!loop || !signals)
        return refused(loop ? signals.error() : loop.error());
    auto box = Box::start(**loop, std::move(*config), *sockets);
    if (!box)
        return refused(box.error());
    auto server = BoxServer::listen(**box, *sockets / ((*box)->config().id + ".box"));
    if (!server)
        return refused(server.error());
    watchForOrders(**box, signals->get(), lifeline);
    printed({{"id", (*box)->config().id}, {"control", (*server)->path().string()}, {"pid", ::getpid()},
        {"state", "ready"}});
    (*loop)->run();
    return 0;
}

} // namespace gb::rpc
