// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>

#include <backend/base/files.h>

#include "budget.h"
#include "digest.h"
#include "engine.h"
#include "retry.h"
#include "workers.h"

namespace gb::transfer {

// One file whose size and hash are known before.
struct FileSpec
{
    std::string url;
    std::vector<Header> headers;
    std::optional<Credential> credential;
    std::uint64_t size = 0;
    Digest::Kind kind = Digest::Kind::Sha256;
    std::string digest;
    fs::path partial; // the bytes, in place
    fs::path record; // which of its pieces are there
    int priority = 0;
};

struct FileOptions
{
    int connections = 16; // of one file
    RetryPolicy retry;
    int stallMs = 30'000;
    std::uint64_t keepFree = 0; // bytes of disk to leave
};

// What many downloads share.
class Downloader
{
public:
    explicit Downloader(NetworkOptions options, int connections = 16)
        : engine(std::move(options)), budget(connections)
    { }
    ~Downloader() { engine.stop(); }

    // The members go away in reverse: the workers end before what they post to.
    Engine engine;
    ConnectionBudget budget;
    Workers workers;
};

// Fetches a file by parallel ranges into its partial file and checks the hash while the bytes are hot. It
// ends with the partial file complete, stored and proven; putting it in its place is its owner's part.
class FileDownload
{
public:
    struct Progress
    {
        std::uint64_t done = 0; // bytes written, found ones included
        std::uint64_t hashed = 0;
        std::int64_t lastByteNs = 0; // 0: none yet
        int connections = 0;
        std::optional<Error> trouble; // why it waits at the moment
    };
    using Done = std::function<void(Status)>;

    FileDownload(Downloader& downloader, FileSpec spec, FileOptions options);
    ~FileDownload(); // cancels, and done is dropped unless it is being called this moment
    FileDownload(const FileDownload&) = delete;
    FileDownload& operator=(const FileDownload&) = delete;

    void start(Done done); // once; done is called once on the engine's thread
    void cancel(); // keeps the pieces; done follows as "cancelled"
    Progress progress() const; // any thread

private:
    class Private;
    std::shared_ptr<Private> d;
};

} // namespace gb::transfer
