// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include <backend/base/fd.h>

#include "hubclient.h"

namespace gb::hub {

// The official client's cache, written so that neither side notices who did it:
// models--org--name/{blobs/<etag>, refs/<revision>, snapshots/<commit>/<path> → ../../blobs/<etag>,
// .no_exist/<commit>/<path>, trees/<commit>.json}, .locks/models--org--name/<etag>.lock, CACHEDIR.TAG.
class HubCache
{
public:
    explicit HubCache(fs::path folder) : m_folder(std::move(folder)) { }

    const fs::path& folder() const { return m_folder; }
    fs::path repoFolder(const std::string& repo) const { return m_folder / cacheFolderName(repo); }
    fs::path blob(const std::string& repo, const std::string& etag) const;
    // Ours, so that no version of the official client takes a file with holes for a beginning to go on from.
    fs::path partial(const std::string& repo, const std::string& etag) const;
    fs::path pieces(const std::string& repo, const std::string& etag) const;
    fs::path snapshot(const std::string& repo, const std::string& commit) const;

    Status prepare(const std::string& repo) const;

    // Held while a blob is fetched, by the official client too. Nothing when somebody else has it.
    Result<std::optional<UniqueFd>> tryLock(const std::string& repo, const std::string& etag) const;
    bool hasBlob(const std::string& repo, const RemoteFile& file) const; // of the right size
    Status publishBlob(const std::string& repo, const std::string& etag) const; // the partial file becomes it
    Status link(const std::string& repo, const std::string& commit, const RemoteFile& file) const;
    bool isLinked(const std::string& repo, const std::string& commit, const RemoteFile& file) const;

    Status writeRef(const std::string& repo, const std::string& revision, const std::string& commit) const;
    std::optional<std::string> readRef(const std::string& repo, const std::string& revision) const;
    Status writeTree(
        const std::string& repo, const std::string& commit, const std::vector<RemoteFile>& files) const;
    std::optional<std::vector<RemoteFile>> readTree(const std::string& repo, const std::string& commit) const;
    Status markMissing(const std::string& repo, const std::string& commit, const std::string& path) const;

private:
    fs::path m_folder;
};

} // namespace gb::hub
