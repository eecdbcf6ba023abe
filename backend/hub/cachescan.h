// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "hubcache.h"

namespace gb::hub {

struct CachedFile
{
    std::string path;
    std::string blob; // name below blobs/, empty for a file that is no link
    std::uint64_t size = 0;
};

struct CachedRevision
{
    std::string commit;
    std::vector<std::string> refs;
    std::vector<CachedFile> files;
    std::uint64_t bytes = 0; // same content counted once
    std::vector<std::string> broken; // links to blobs that are gone
    // Known when the listing is there: what a model is loaded from is missing, or of the wrong size.
    bool isListed = false;
    std::vector<std::string> missing;

    bool isComplete() const { return isListed && missing.empty() && broken.empty(); }
};

struct LooseBlob
{
    fs::path path;
    std::uint64_t size = 0;
    std::uint64_t allocated = 0; // on the disk
};

struct CachedModel
{
    std::string repo;
    fs::path folder;
    std::vector<CachedRevision> revisions;
    std::uint64_t bytesOnDisk = 0; // of everything below the folder
    std::vector<LooseBlob> orphans; // blobs no revision uses
    std::vector<LooseBlob> partials; // unfinished, ours and the official client's
    std::int64_t lastUsedMs = 0;
    std::int64_t lastModifiedMs = 0;

    Json toJson() const;
};

Result<std::vector<CachedModel>> scanCache(const HubCache& cache);
Result<CachedModel> scanModel(const HubCache& cache, const std::string& repo);

struct Removal
{
    std::uint64_t freed = 0; // bytes the disk really has back
    std::vector<std::string> commits;
};

// One revision (a commit or a name), or everything when `revision` is empty. Blobs that other revisions use
// stay. Refused while somebody is downloading into it.
Result<Removal> removeModel(const HubCache& cache, const std::string& repo, const std::string& revision);
// Orphans and partial files nobody is writing.
Result<Removal> removeLoose(const HubCache& cache, const std::string& repo);

struct Verification
{
    std::uint64_t bytes = 0; // hashed
    std::uint64_t files = 0;
    std::vector<std::string> bad; // paths whose content is not what their name says
    std::vector<std::string> missing;
};

// Hashes what the snapshot links to; the names of the blobs are the expected hashes.
Result<Verification> verifyModel(const HubCache& cache, const std::string& repo, const std::string& commit,
    const std::function<void(std::uint64_t bytes)>& onProgress, const transfer::CancelFlag& cancel);

} // namespace gb::hub
