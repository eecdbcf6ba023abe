// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <future>

#include "callfilter.h"
#include "callrecord.h"
#include "records.h"
#include "schema.h"

namespace gb {

struct StoreOptions
{
    fs::path folder; // the data folder: index.db, runs/, blobs/
    std::function<std::uint64_t(const fs::path&)> fileSystemType = {}; // statfs magic; tests pretend
    std::string vfs = {}; // SQLite VFS; tests cut the power
    Synchronous synchronous = Synchronous::Full;
};

// Everything that must outlive a crash: events, ops, calls, runs, jobs' outcomes, keepers, blobs.
//
// Writing functions return at once and call `done` on the store's own thread when the change is durable (or
// with the error, in which case nothing was changed); `done` must be short, must not wait for the store, and
// carries its own guard. Events of one stream keep their order; between streams none is promised. waitFor()
// below turns one into a plain call for any other thread. Reading functions may be called from any thread and
// block only for the disk. Known secret values are replaced before writing.
class Store
{
public:
    template <typename T>
    using Done = std::function<void(Result<T>)>;

    static Result<std::unique_ptr<Store>> open(StoreOptions options);
    ~Store(); // writes what is queued
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    void setSecretValues(const std::vector<SecretValue>& secrets);

    // Called on the store's thread after each durable batch, in order within a stream. The events are shared
    // text, so that live subscribers need not read them back. setListener() waits for a call under way, so
    // the caller holds no lock that the listener takes, and the listener does not call it.
    void setListener(std::function<void(const EventBatch&)> listener);

    // Events. A stream is `daemonStream` or the id of a run.
    void appendEvents(const std::string& stream, std::vector<NewEvent> events, Done<SeqRange> done);
    // Events with seq >= since, at most `limit` of them and about `maxBytes` of text (but one at least).
    Result<EventPage> readEvents(const std::string& stream, std::int64_t since, int limit = 1000,
        std::size_t maxBytes = 1U << 20U) const;
    Result<std::int64_t> lastSeq(const std::string& stream) const; // 0 without events

    // Ops: a mutating request and its first outcome, kept for at least 24 h after it.
    void beginOp(OpStart start, Done<OpBegun> done);
    Result<OpBegun> findOp(const OpStart& start) const; // what beginOp() would say; records nothing
    void finishOp(const std::string& op, std::string outcome, Done<void> done,
        Durability durability = Durability::PowerCut);
    Result<std::vector<Intent>> intents() const; // begun and not finished, from this daemon or an earlier one
    void finishIntent(const std::string& id, Done<void> done);

    // Calls. putCall() may be repeated: the first record of an id stays.
    void putCall(CallRecord record, Done<void> done);
    Result<CallRecord> getCall(const std::string& id) const;
    // `before` is the `next` of the page before. Newest first.
    Result<CallPage> listCalls(
        const CallFilter& filter, const std::string& before = {}, int limit = 50) const;
    void annotateCall(const std::string& id, CallAnnotation annotation, Done<void> done);

    // Once all that was asked for before is written.
    void settle(std::function<void()> done);

    // Runs.
    void createRun(RunSpec spec, Done<RunRecord> done);
    void endRun(const std::string& run, Done<void> done);
    void pinRun(const std::string& run, bool pinned, Done<void> done);
    Result<std::vector<RunRecord>> listRuns(int limit = 50) const; // newest first
    Result<RunRecord> getRun(const std::string& run) const;
    Result<RunSpec> runSpec(const std::string& run) const; // with config and interface as they were
    Result<fs::path> runFile(const std::string& run) const;

    // Blobs of a run, by SHA-256 of what is stored.
    void putBlob(const std::string& run, std::string bytes, Done<std::string> digest);
    Result<std::string> getBlob(const std::string& run, const std::string& digest) const;

    // Jobs that ended, for 24 h at least.
    void putJob(JobOutcome job, Done<void> done);
    Result<JobOutcome> getJob(const std::string& id) const;
    Result<std::vector<JobOutcome>> listJobs() const;

    // Keepers that may still run, so that a new daemon finds them.
    void putKeeper(KeeperRecord keeper, Done<void> done);
    void removeKeeper(const std::string& id, Done<void> done);
    Result<std::vector<KeeperRecord>> keepers() const;

    // Forgets ops and jobs older than 24 h. The daemon calls it now and then.
    void prune(Done<void> done);
    // Deletes ended runs without pins, oldest first, until the limits hold.
    void applyRetention(Retention limits, Done<RetentionReport> done);

    struct Private;

private:
    explicit Store(std::unique_ptr<Private> data);
    std::unique_ptr<Private> d;
};

// waitFor<SeqRange>([&](auto done) { store.appendEvents(stream, events, std::move(done)); })
template <typename T, typename Start>
Result<T> waitFor(Start&& start)
{
    auto promise = std::make_shared<std::promise<Result<T>>>();
    std::future<Result<T>> future = promise->get_future();
    start(Store::Done<T>([promise](Result<T> result) { promise->set_value(std::move(result)); }));
    return future.get();
}

} // namespace gb
