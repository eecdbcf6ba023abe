// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <shared_mutex>

#include "blobs.h"
#include "readers.h"
#include "redactor.h"
#include "store.h"
#include "writer.h"

namespace gb {

struct Store::Private
{
    Private(StoreOptions storeOptions, std::unordered_map<std::string, fs::path> runs,
        std::unique_ptr<StoreFile> index);

    // Where the events of a stream are; empty file name for the daemon's own.
    Result<std::string> fileOf(const std::string& stream) const;
    Result<fs::path> runPath(const std::string& run) const;
    fs::path newRunPath(const std::string& run, const std::string& experiment) const;
    Result<Readers::Lent> readIndex() const;
    Result<Readers::Lent> readRun(const std::string& run) const;
    Result<std::unique_ptr<StoreFile>> openRun(const std::string& run) const;
    std::shared_ptr<const Redactor> redactor() const;
    // A write in the index alone.
    void writeIndex(std::function<Status(StoreFile&)> work, Done<void> done,
        Durability durability = Durability::PowerCut);

    StoreOptions options;
    FileOptions fileOptions;
    fs::path indexPath;
    Blobs blobs;
    std::string session; // of this opening, tells ops of an earlier daemon from ours
    mutable Readers readers;

    mutable std::shared_mutex mutex;
    std::unordered_map<std::string, fs::path> runPaths;
    std::shared_ptr<const Redactor> currentRedactor = std::make_shared<Redactor>();

    std::unique_ptr<Writer> writer; // last: its thread uses all of the above
};

// A blob as a file beside the runs, and the index's note of who needs it. The file is durable first.
Status writeSharedBlob(const Store::Private& data, StoreFile& index, const std::string& run,
    const std::string& digest, std::string_view bytes);

} // namespace gb
