// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <mutex>
#include <set>

#include "filedownload.h"
#include "pieces.h"

namespace gb::transfer {

// One request of a download: a run of pieces and how far it has come.
struct Fetching
{
    PieceMap::Run run;
    std::uint64_t reached = 0; // file offset where the received bytes end
    std::uint64_t end = 0;
    bool whole = false; // asked without a range
    int round = 0; // of the download, which starts anew after a wrong hash
    Engine::Id id = 0;
};

// Everything but what says otherwise happens on the engine's thread.
class FileDownload::Private final : public std::enable_shared_from_this<FileDownload::Private>,
                                    public ConnectionBudget::Taker
{
public:
    Private(Downloader& downloader, FileSpec spec, FileOptions options);

    void start(Done done); // any thread
    void cancel(); // any thread
    void abandon(); // any thread
    Progress progress() const; // any thread

    void connectionFree() override { pump(); }
    int priority() const override { return m_spec.priority; }

    Status wrote(Fetching& fetching, std::string_view bytes);

private:
    struct Opened
    {
        UniqueFd fd;
        std::optional<PieceRecord> record;
    };

    Result<Opened> open() const; // a worker's part
    void opened(Result<Opened> opened);
    void pump();
    void startFetching(PieceMap::Run run, bool whole);
    Request requestFor(const Fetching& fetching) const;
    void fetched(const std::shared_ptr<Fetching>& fetching, Result<Response> outcome);
    void judge(Result<Response> outcome);
    void tryAgain(Error error, int atLeastMs);
    void pieceWritten(std::size_t piece);
    void syncSoon();
    void synced(const std::vector<std::size_t>& pieces, Status status);
    void hashSoon();
    void hashed(std::uint64_t upTo, Status status);
    void checkDigest();
    void fail(Error error);
    void settle(); // ends, once nothing is in the air
    bool isEnding() const { return m_outcome.has_value(); }
    void setTrouble(std::optional<Error> error);

    Downloader& m_downloader;
    FileSpec m_spec;
    FileOptions m_options;
    Done m_done;
    std::optional<Status> m_outcome; // decided; done follows in settle()

    UniqueFd m_fd;
    std::optional<PieceRecord> m_record; // a sync worker's while m_syncing
    PieceMap m_pieces;
    std::set<std::shared_ptr<Fetching>> m_fetching;
    bool m_opening = false;
    bool m_ranges = true; // the server honours them
    std::string m_direct; // where the redirect led
    int m_refusedDirect = 0;

    int m_failures = 0; // in a row
    int m_badRanges = 0;
    std::uint64_t m_sinceFailure = 0; // bytes
    std::int64_t m_retryAtNs = 0;

    std::vector<std::size_t> m_unsynced;
    bool m_syncing = false;
    std::size_t m_recorded = 0;
    std::unique_ptr<Digest> m_digest; // a hash worker's while m_hashing
    bool m_hashing = false;
    std::uint64_t m_hashedTo = 0;
    std::size_t m_prefix = 0; // pieces written without a gap from the beginning
    int m_mismatches = 0;

    std::atomic<bool> m_abort = false;
    std::atomic<std::uint64_t> m_bytes = 0;
    std::atomic<std::uint64_t> m_hashedBytes = 0;
    std::atomic<std::int64_t> m_lastByteNs = 0;
    std::atomic<int> m_connections = 0;
    mutable std::mutex m_troubleMutex;
    std::optional<Error> m_trouble;
};

} // namespace gb::transfer
