// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/clock.h>

#include "store_p.h"

namespace gb {
namespace {

struct OldRun
{
    std::string id;
    std::int64_t endedAt = 0;
    bool kept = false; // live or pinned, itself or one of its calls
};

Result<std::vector<OldRun>> runsOldestFirst(Database& index)
{
    return collect<OldRun>(
        index.query("SELECT id, ended_at, pinned OR ended_at = 0 OR EXISTS (SELECT 1 FROM calls WHERE "
                    "calls.pinned AND +calls.run = runs.id) FROM runs ORDER BY ended_at, id"),
        [](const Rows& rows) {
            return OldRun{rows.text(0), rows.integer(1), rows.integer(2) != 0};
        });
}

constexpr const char* logSuffixes[] = {"", "-wal", "-shm"};

std::int64_t runBytes(const fs::path& path)
{
    std::int64_t bytes = 0;
    for (const char* suffix : logSuffixes) {
        std::error_code error;
        const auto size = fs::file_size(path.string() + suffix, error);
        bytes += error ? 0 : std::int64_t(size);
    }
    return bytes;
}

Status forgetRun(Database& index, const std::string& run)
{
    GB_TRY(index.run("DELETE FROM calls_text WHERE rowid IN (SELECT key FROM calls WHERE run = ?)", run));
    GB_TRY(index.run("DELETE FROM call_args WHERE call IN (SELECT key FROM calls WHERE run = ?)", run));
    GB_TRY(index.run("DELETE FROM calls WHERE run = ?", run));
    GB_TRY(index.run("DELETE FROM blob_refs WHERE run = ?", run));
    return index.run("DELETE FROM runs WHERE id = ?", run);
}

Status inTransaction(Database& index, const std::function<Status()>& work)
{
    GB_TRY(index.execute("BEGIN IMMEDIATE"));
    Status done = work();
    if (done)
        done = index.execute("COMMIT");
    if (!done && index.inTransaction())
        (void)index.execute("ROLLBACK");
    return done;
}

class RetentionPass
{
public:
    RetentionPass(Store::Private& data, Retention limits) : m_data(data), m_limits(limits) { }

    Result<RetentionReport> run()
    {
        const auto runs = runsOldestFirst(index());
        if (!runs)
            return fail(runs.error());
        std::int64_t total =
            index()
                .integer("SELECT sum(bytes) FROM (SELECT DISTINCT digest, bytes FROM blob_refs)")
                .value_or(0);
        for (const OldRun& old : *runs)
            total += runBytes(m_data.runPath(old.id).value_or(fs::path()));
        const std::int64_t now = wallMs();
        for (const OldRun& old : *runs) {
            const bool tooOld = m_limits.maxAgeMs > 0 && now - old.endedAt > m_limits.maxAgeMs;
            const bool tooMuch = m_limits.maxBytes > 0 && total > m_limits.maxBytes;
            if (old.kept || !(tooOld || tooMuch))
                continue;
            const std::int64_t before = m_report.bytes;
            GB_TRY(remove(old.id));
            total -= m_report.bytes - before;
        }
        return m_report;
    }

private:
    Database& index() { return m_data.writer->index().database(); }

    // The index forgets first: a crash in between leaves a file nobody knows, never a row without its file.
    Status remove(const std::string& run)
    {
        const fs::path path = m_data.runPath(run).value_or(fs::path());
        const auto blobs =
            collect<std::string>(index().query("SELECT digest FROM blob_refs b WHERE run = ? AND NOT EXISTS "
                                               "(SELECT 1 FROM blob_refs o WHERE o.digest = b.digest AND "
                                               "o.run <> b.run)",
                                     run),
                [](const Rows& rows) { return rows.text(0); });
        if (!blobs)
            return fail(blobs.error());
        GB_TRY(inTransaction(index(), [&] { return forgetRun(index(), run); }));
        {
            const std::unique_lock lock(m_data.mutex);
            m_data.runPaths.erase(run);
        }
        m_data.writer->forget(run);
        m_data.readers.forget(path);
        m_report.bytes += runBytes(path);
        for (const char* suffix : logSuffixes) {
            std::error_code ignored;
            fs::remove(path.string() + suffix, ignored);
        }
        for (const std::string& digest : *blobs) {
            m_report.bytes += m_data.blobs.remove(digest);
            ++m_report.blobs;
        }
        ++m_report.runs;
        return {};
    }

    Store::Private& m_data;
    Retention m_limits;
    RetentionReport m_report;
};

} // namespace

void Store::applyRetention(Retention limits, Done<RetentionReport> done)
{
    d->writer->submitAlone([this, limits, done = std::move(done)] { done(RetentionPass(*d, limits).run()); });
}

} // namespace gb
