// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include <backend/base/json.h>
#include <backend/domain/sandboxspec.h>

namespace gb {

// A place on the network, as the keeper's relay takes it (rpc/box/README.md).
struct NetworkPlace
{
    std::string host;
    int port = 443;
    bool inPrivate = false; // it may be on this machine or a private network

    std::string text() const; // "host", or "host:port" where that is not the usual one
    bool operator==(const NetworkPlace&) const = default;
};

// Of "https://user@host:port/path"; nothing when it is not an address on the network.
std::optional<NetworkPlace> placeOfUrl(const std::string& url);
// An entry of a spec's list: "host", "*.host", "host:port" or "10.0.0.0/8".
NetworkPlace placeOfEntry(const std::string& entry);

// Where this person's pip and uv look for packages: what is set in their environment and files, else what pip
// itself says: the machine's, or that of the environment the person is in.
std::vector<NetworkPlace> packageIndexes(const std::map<std::string, std::string>& environment);

// The environment in which pip and npm inside find them.
std::map<std::string, std::string> pipEnvironment(const std::map<std::string, std::string>& environment);

// What a sandbox may reach: the member `network` of the keeper's configuration, or null where it is no list.
struct NetworkPlan
{
    std::vector<NetworkPlace> places;
    Json upstream; // the person's own proxy
    std::vector<std::string> direct;

    Json toJson() const;
};
std::optional<NetworkPlan> planNetwork(
    const SandboxSpec& spec, const std::map<std::string, std::string>& environment);

} // namespace gb
