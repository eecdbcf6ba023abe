// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hubclient.h"

namespace gb::hub {

struct FileChoice
{
    // Shell patterns over the whole path; a pattern that ends in '/' means everything below. Without include
    // patterns the files a model is loaded from are chosen: each weight once (safetensors before PyTorch's
    // before others), and everything that is not a weight.
    std::vector<std::string> include = {};
    std::vector<std::string> exclude = {};

    bool isDefault() const { return include.empty() && exclude.empty(); }
    Json toJson() const;
    static FileChoice fromJson(const Json& json);
};

struct Plan
{
    ModelInfo model;
    std::vector<RemoteFile> listing; // everything the hub has
    std::vector<RemoteFile> files; // what is to be fetched
    std::uint64_t bytes = 0; // of files, same content counted once

    std::vector<std::string> leftOut() const; // paths
};

std::vector<RemoteFile> choose(const std::vector<RemoteFile>& listing, const FileChoice& choice);
// Resolves, lists, chooses, and finds out whether the files may be read.
Result<Plan> makePlan(const HubClient& client, const ModelName& name, const FileChoice& choice);

} // namespace gb::hub
