// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <backend/api/client.h>

namespace gb::bench {

double median(std::vector<double> values);
double msSince(std::int64_t beginNs);
[[noreturn]] void giveUp(const Error& error);

// A daemon of its own, used as a window uses one.
class SandboxDaemon
{
public:
    explicit SandboxDaemon(const fs::path& dataFolder);
    ~SandboxDaemon();
    SandboxDaemon(const SandboxDaemon&) = delete;
    SandboxDaemon& operator=(const SandboxDaemon&) = delete;

    // From asking for a sandbox to the end of its first command.
    double startMs(const Json& spec);
    // From asking for a command to its end, in a sandbox that runs.
    double execMs(const Json& spec, int rounds);

private:
    Json call(const std::string& method, Json params);
    std::string start(const Json& spec);
    void runTrue(const std::string& sandbox);
    void stop(const std::string& sandbox);
    void spinUntil(const std::function<bool()>& condition) const;

    fs::path m_data;
    api::Client m_client;
    int m_exits = 0;
};

} // namespace gb::bench
