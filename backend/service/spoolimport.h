// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <QObject>

#include <backend/base/files.h>
#include <backend/store/store.h>

namespace gb::service {

struct FoundHosts
{
    std::vector<std::string> dead; // ids: their folder is there, but nobody listens
    std::vector<fs::path> living; // their control sockets
};

// Hosts with a folder, without the `known` ones.
FoundHosts findHosts(const fs::path& dataFolder, const std::set<std::string>& known);

// Takes the records a dead host has left into the store and, once they are durable, removes its folder.
// `done` is called on the thread of `guard`, with the runs the records belong to.
void importSpool(Store* store, QObject* guard, const fs::path& hostFolder,
    std::function<void(const std::set<std::string>& runs)> done);

} // namespace gb::service
