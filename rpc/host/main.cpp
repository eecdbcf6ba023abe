// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>
#include <iostream>

#include <sys/prctl.h>
#include <sys/signal.h>
#include <unistd.h>

#include <backend/base/json.h>
#include <backend/base/log.h>
#include <rpc/box/boxmain.h>

#include "host.h"

namespace {

using namespace gb;

// The first line of the descriptor. When it stays open after that, it is our lifeline: whoever started us is
// gone when it closes.
Result<Json> readConfig(int fd)
{
    std::string text;
    char byte = 0;
    while (::read(fd, &byte, 1) == 1 && byte != '\n')
        text += byte;
    return parseJson(text);
}

// Whoever reads a log of ours has it there; who waits for a detached host's first line has it there.
int failWith(const Error& error, bool detached = false)
{
    logError("host", error.message, {{"code", error.code}});
    if (detached)
        std::cout << Json{{"error", error.toJson()}}.dump(-1, ' ', false, Json::error_handler_t::replace)
                  << std::endl;
    return 1;
}

int serve(int fd)
{
    const auto json = readConfig(fd);
    if (!json)
        return failWith(json.error());
    const bool detached = boolOr(*json, "detached");
    if (detached)
        ::close(fd);
    else
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (json->contains("sandbox"))
        return rpc::runBox(objectOr(*json, "sandbox"), detached ? -1 : fd);
    auto config = rpc::HostConfig::fromJson(*json);
    if (!config)
        return failWith(config.error(), detached);
    auto loop = rpc::Loop::create();
    if (!loop)
        return failWith(loop.error(), detached);
    auto host = rpc::Host::create(**loop, std::move(*config));
    if (!host)
        return failWith(host.error(), detached);
    if (const Status started = (*host)->start(detached ? -1 : fd); !started)
        return failWith(started.error(), detached);
    (*loop)->run();
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3 || std::strcmp(argv[1], "--config-fd") != 0) {
        std::cerr << "usage: glovebox-host --config-fd N   (the configuration is read from descriptor N)\n";
        return 2;
    }
    return serve(std::atoi(argv[2]));
}
