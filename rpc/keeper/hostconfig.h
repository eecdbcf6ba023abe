// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include <backend/base/concealer.h>
#include <backend/base/files.h>

namespace gb::rpc {

struct Caller
{
    std::string kind; // person, script or agent
    std::string name;
    std::string token; // short id of the token used, empty for the daemon

    Json toJson() const;
};

struct HostLimits
{
    std::size_t bodyBytes = 64U << 20U;
    std::size_t headerBytes = 16U << 10U;
    std::size_t resultBytes = 512U << 20U;
    std::size_t outputBytes = 1U << 20U;
    std::size_t tensorBytes = 4ULL << 30U;
    std::size_t deviceCacheBytes = 1ULL << 30U;
    std::size_t spoolBytes = 1ULL << 30U; // of records that nobody has fetched
    int connections = 256;
    int calls = 128; // running and waiting together
    int headerMs = 10'000;
    int bodyMs = 60'000;
    int idleMs = 120'000;
    int graceMs = 1'000; // from asking a call to stop to killing its worker

    Json forWorker() const;
};

// What a host is told on a descriptor (never argv: it holds secrets). See README.md of rpc/host.
struct HostConfig
{
    std::string id;
    std::string run;
    std::string name;
    fs::path interface;
    std::string python;
    fs::path workerPackage; // the folder glovebox_worker
    std::string workerVia; // control socket of the sandbox in which the worker is to live; none: beside us
    fs::path dataFolder;
    int port = 0;
    fs::path socket; // when set, HTTP is served there instead of on a port
    bool compat = false;
    bool watch = false;
    bool showPaths = false; // agents too may see paths and tracebacks
    Json models = Json::array();
    Concealer concealer; // of the names of hidden models
    Json env = Json::object();
    std::vector<std::string> origins; // allowed Origin headers
    Caller caller{"script", "serve", {}};
    HostLimits limits;

    fs::path folder() const { return dataFolder / "hosts" / id; }
    // Where the worker finds the interface file: in a sandbox it is a copy.
    std::string interfaceForWorker() const
    {
        return workerVia.empty() ? interface.string()
                                 : "/run/glovebox/interface/" + id + "/" + interface.filename().string();
    }

    static Result<HostConfig> fromJson(const Json& json);
};

} // namespace gb::rpc
