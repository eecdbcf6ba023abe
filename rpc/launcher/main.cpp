// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <cstdio>

#include <sys/prctl.h>
#include <unistd.h>

#include <backend/base/json.h>
#include <rpc/launch/namespaces.h>

namespace {

std::string readAll(int fd)
{
    std::string text;
    char buffer[4096]; // NOLINT: filled by read
    for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    return text;
}

int leave(const gb::Error& error)
{
    constexpr int notStarted = 125;
    const std::string text = error.toJson().dump(-1, ' ', false, gb::Json::error_handler_t::replace) + "\n";
    (void)std::fputs(text.c_str(), stderr);
    return notStarted;
}

} // namespace

// Started by a keeper with a specification on descriptor 3; becomes the sandbox, so that the keeper is its
// parent. Errors go to standard error as one line of JSON.
int main()
{
    const pid_t parent = ::getppid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        return 1;
    const auto json = gb::parseJson(readAll(gb::launcherSpecFd));
    ::close(gb::launcherSpecFd);
    if (!json)
        return leave(json.error());
    const auto spec = gb::LaunchSpec::fromJson(*json);
    return leave(spec ? gb::becomeSandbox(*spec) : spec.error());
}
