// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "hubcache.h"
#include "plan.h"

namespace gb::hub {

struct FetchOptions
{
    int files = 8; // at once
    int priority = 0;
    std::uint64_t keepFree = 1ULL << 30U; // bytes of disk to leave
    transfer::FileOptions file;
};

enum class FileState { Waiting, Locked, Downloading, Verifying, Ready };

struct FileProgress
{
    const RemoteFile* file = nullptr; // of the plan
    FileState state = FileState::Waiting;
    std::uint64_t done = 0;
};

struct FetchProgress
{
    std::vector<FileProgress> files;
    std::uint64_t total = 0;
    std::uint64_t done = 0; // same content counted once
    std::uint64_t found = 0; // of done: was there before
    int connections = 0;
    std::int64_t lastByteNs = 0;
    bool verifying = false; // every byte is there, hashes are not finished
    std::optional<Error> trouble; // what it waits for at the moment
};

struct FetchReport
{
    fs::path snapshot;
    std::uint64_t found = 0;
    std::uint64_t fetched = 0;
};

using OnProgress = std::function<void(const FetchProgress&)>; // in the calling thread, at most ten a second

// Brings what is planned into the cache. Each file is published when its hash is proven, the revision's name
// last. Blocks; a cancelled one keeps its pieces.
Result<FetchReport> fetchSnapshot(transfer::Downloader& downloader, const HubClient& client, const Plan& plan,
    const FetchOptions& options, const OnProgress& onProgress, const transfer::CancelFlag& cancel);

std::string_view toString(FileState state);

} // namespace gb::hub
