// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include <backend/hub/fetch.h>

namespace gb {

// What somebody asked for.
struct DownloadSpec
{
    hub::ModelName model;
    hub::FileChoice choice;
    hub::HubSettings hub;
    int priority = 0;

    // For the queue's file: without the token, which is no business of a file that is read by backups.
    Json toJson() const;
    static Result<DownloadSpec> fromJson(const Json& json);
};

// A model, or an adapter together with the model it was made for: one download, two parts.
struct DownloadPart
{
    std::string role; // "model", "base", "adapter"
    hub::Plan plan;
};

struct DownloadProgress
{
    bool planned = false; // parts are known
    bool verifying = false;
    std::uint64_t total = 0;
    std::uint64_t done = 0;
    std::uint64_t found = 0;
    int connections = 0;
    std::int64_t lastByteNs = 0;
    std::optional<Error> trouble;
    Json parts = Json::array(); // [{role, repo, revision, commit, gated, bytes, left_out, files: [{path,
                                // size, done, state}]}]
};

// What a download consists of. Asks the hub, also whether every part may be read.
Result<std::vector<DownloadPart>> planParts(const hub::HubClient& client, const DownloadSpec& spec);

// The bytes that the cache does not have, by part, as the hub calls them now. For somebody who waits for the
// answer: after `patienceMs` the hub counts as unavailable.
Result<std::map<std::string, std::int64_t>> estimateDownload(const DownloadSpec& spec, int patienceMs);

using OnDownloadProgress = std::function<void(DownloadProgress)>; // in the calling thread

// Blocks until everything is in the cache: {parts: [{role, repo, commit, snapshot}]}. Access to every part is
// checked before the first byte of any is fetched.
Result<Json> runDownload(transfer::Downloader& downloader, const DownloadSpec& spec,
    const hub::FetchOptions& options, const OnDownloadProgress& onProgress,
    const transfer::CancelFlag& cancel);

} // namespace gb
