// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/transfer/filedownload.h>
#include <backend/transfer/retry.h>

#include "hubsettings.h"
#include "modelname.h"

namespace gb::hub {

struct ModelInfo
{
    std::string repo; // as the hub calls it now; a renamed model answers to its old name
    std::string revision; // what was asked for
    std::string commit;
    std::string gated; // empty, "auto" or "manual"
};

struct RemoteFile
{
    std::string path;
    std::uint64_t size = 0;
    std::string blobId; // git's
    std::string sha256; // of the content, when it is stored as LFS
    std::string xetHash;

    // The name in the cache, which is also the hash to check.
    const std::string& etag() const { return sha256.empty() ? blobId : sha256; }
    transfer::Digest::Kind digestKind() const
    {
        return sha256.empty() ? transfer::Digest::Kind::GitBlob : transfer::Digest::Kind::Sha256;
    }
};

// The hub's protocol. Blocks: call it from a thread of a job.
class HubClient
{
public:
    HubClient(transfer::Downloader& downloader, HubSettings settings, transfer::RetryPolicy retry = {},
        transfer::CancelFlag cancel = {});

    const HubSettings& settings() const { return m_settings; }
    Result<ModelInfo> resolve(const ModelName& name) const;
    Result<std::vector<RemoteFile>> tree(const ModelInfo& model) const; // paths are checked
    // Whether this token may read the file; the listing of a gated model is open to everybody.
    Status checkAccess(const ModelInfo& model, const RemoteFile& file) const;
    // What the hub says about one file without sending it.
    Result<RemoteFile> head(const ModelInfo& model, const std::string& path) const;
    // `count` bytes from `offset`; fewer when the file ends.
    Result<std::string> read(
        const ModelInfo& model, const RemoteFile& file, std::uint64_t offset, std::uint64_t count) const;

    std::string pageUrl(const std::string& repo) const { return m_settings.endpoint + "/" + repo; }
    std::string fileUrl(const ModelInfo& model, const std::string& path) const;
    transfer::Credential credential() const;

private:
    Result<transfer::Response> get(transfer::Request request, const std::string& repo) const;
    Result<Json> getJson(const std::string& url, const std::string& repo, std::string* next = nullptr) const;

    transfer::Downloader& m_downloader;
    HubSettings m_settings;
    transfer::RetryPolicy m_retry;
    transfer::CancelFlag m_cancel;
};

// What an answer of the hub means: "hub.gated", "hub.model_not_found", "hub.revision_not_found",
// "hub.file_not_found", "hub.bad_token", "hub.forbidden", "hub.rate_limited", "hub.unavailable". Errors that
// are no answers stay what they are.
Error hubError(Error error, const std::string& repo, const std::string& page);

} // namespace gb::hub
