// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <string>

#include <rpc/launch/launcher.h>

#include "networkrules.h"

namespace gb::rpc {

// What the keeper of a sandbox is told on a descriptor (README.md). Holds secrets: never logged.
struct BoxConfig
{
    std::string id;
    std::string nonce;
    std::string name;
    fs::path dataFolder;
    LaunchSpec launch;
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> secrets;
    bool secretsInExec = false;
    std::int64_t memory = 0; // bytes, 0: not limited
    double cpu = 0; // processors
    std::int64_t disk = 0; // bytes
    std::int64_t diskReserve = 0; // free space below which the disk is nearly full; 0: the usual
    std::int64_t fileReserve = 0; // the same of files there can be
    std::string storeFolder; // what it writes to disk, in the store
    std::int64_t timeout = 0; // seconds, 0: none
    std::int64_t idleTimeout = 0;
    std::string python = "python3"; // inside
    std::optional<NetworkRules> network; // its way out, where its network is a list of hosts

    fs::path folder() const { return dataFolder / "boxes" / id; }

    static Result<BoxConfig> fromJson(const Json& json);
};

} // namespace gb::rpc
