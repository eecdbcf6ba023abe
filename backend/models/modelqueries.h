// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <backend/hub/cachescan.h>
#include <backend/hub/plan.h>

namespace gb {

// What can be asked about models. All of these block: run them in a ThreadJob.

// {cache, bytes, free, models: [CachedModel]}
Result<Json> listModels(const hub::HubSettings& settings);

// {repo, revision, commit, source: "cache"|"hub", gated, page, bytes, files: [{path, size, chosen, cached}],
// config?, base?, tensors?: {parameters, by_dtype, files: {path: {tensors}}}, cached?}. Also before anything
// was downloaded: the weights' headers are read by small range requests. From the cache alone when `settings`
// forbids the network.
Result<Json> showModel(
    const hub::HubSettings& settings, const hub::ModelName& name, const transfer::CancelFlag& cancel);

// {repo, commit, files, bytes, bad, missing}. With `repair` what is bad is deleted, so that the next download
// brings it anew.
Result<Json> verifyModels(const hub::HubSettings& settings, const hub::ModelName& name, bool repair,
    const std::function<void(std::uint64_t bytes, std::uint64_t total)>& onProgress,
    const transfer::CancelFlag& cancel);

// {freed, commits}. An empty revision means the whole model; `looseOnly` keeps every revision and removes
// only orphans and abandoned partial files.
Result<Json> removeModels(
    const hub::HubSettings& settings, const std::string& repo, const std::string& revision, bool looseOnly);

} // namespace gb
