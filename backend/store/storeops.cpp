// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/clock.h>

#include "jsontext.h"
#include "store_p.h"

namespace gb {
namespace {

constexpr std::int64_t keptMs = 26LL * 3600 * 1000; // 24 h are promised

Status recordOp(Database& index, const OpStart& start, const std::string& session)
{
    GB_TRY(index.run("INSERT INTO ops VALUES (?, ?, ?, ?, ?, NULL)", start.op, start.method,
        start.paramsDigest, session, wallMs()));
    if (!start.intent)
        return {};
    const Intent& intent = *start.intent;
    return index.run(
        "INSERT OR REPLACE INTO intents VALUES (?, ?, ?, ?)", intent.id, intent.kind, intent.data, wallMs());
}

Result<OpBegun> lookUpOp(Database& index, const OpStart& start, const std::string& session)
{
    OpBegun begun;
    auto rows = index.query("SELECT method, digest, session, outcome FROM ops WHERE op = ?", start.op);
    if (!rows)
        return fail(rows.error());
    const Result<bool> found = rows->next();
    if (!found)
        return fail(found.error());
    if (!*found)
        return begun;
    if (rows->view(0) != start.method || rows->view(1) != start.paramsDigest) {
        begun.state = OpBegun::State::Mismatch;
    } else if (!rows->isNull(3)) {
        begun.state = OpBegun::State::Repeat;
        begun.outcome = rows->text(3);
    } else {
        begun.state = rows->view(2) == session ? OpBegun::State::Pending : OpBegun::State::Interrupted;
    }
    return begun;
}

JobOutcome takeJob(const Rows& rows)
{
    return {rows.text(0), rows.text(1), rows.text(2), rows.integer(3)};
}

Intent takeIntent(const Rows& rows)
{
    return {rows.text(0), rows.text(1), rows.text(2), rows.integer(3)};
}

KeeperRecord takeKeeper(const Rows& rows)
{
    return {rows.text(0), rows.text(1), rows.integer(2), rows.integer(3), rows.text(4)};
}

} // namespace

void Store::beginOp(OpStart start, Done<OpBegun> done)
{
    const auto redactor = d->redactor();
    if (start.intent)
        start.intent->data = redactor->json(std::move(start.intent->data));
    auto begun = std::make_shared<OpBegun>();
    const Durability durability = start.durability;
    d->writeIndex(
        [start = std::move(start), session = d->session, begun](StoreFile& file) -> Status {
            auto found = lookUpOp(file.database(), start, session);
            if (!found)
                return fail(found.error());
            *begun = std::move(*found);
            return begun->state == OpBegun::State::New ? recordOp(file.database(), start, session) : Status();
        },
        [begun, done = std::move(done)](
            const Status& status) { status ? done(std::move(*begun)) : done(fail(status.error())); },
        durability);
}

Result<OpBegun> Store::findOp(const OpStart& start) const
{
    auto reader = d->readIndex();
    if (!reader)
        return fail(reader.error());
    return lookUpOp(**reader, start, d->session);
}

void Store::finishOp(const std::string& op, std::string outcome, Done<void> done, Durability durability)
{
    outcome = d->redactor()->json(std::move(outcome));
    d->writeIndex(
        [op, outcome = std::move(outcome)](StoreFile& file) -> Status {
            // The first outcome stands.
            GB_TRY(file.database().run("UPDATE ops SET outcome = ?, at = ? WHERE op = ? AND outcome IS NULL",
                outcome, wallMs(), op));
            return {};
        },
        std::move(done), durability);
}

Result<std::vector<Intent>> Store::intents() const
{
    auto reader = d->readIndex();
    if (!reader)
        return fail(reader.error());
    auto rows = (*reader)->query("SELECT id, kind, data, at FROM intents ORDER BY at, id");
    return collect<Intent>(std::move(rows), takeIntent);
}

void Store::finishIntent(const std::string& id, Done<void> done)
{
    d->writeIndex(
        [id](StoreFile& file) { return file.database().run("DELETE FROM intents WHERE id = ?", id); },
        std::move(done));
}

void Store::putJob(JobOutcome job, Done<void> done)
{
    const auto redactor = d->redactor();
    job.item = redactor->json(std::move(job.item));
    job.outcome = redactor->json(std::move(job.outcome));
    if (job.endedAt == 0)
        job.endedAt = wallMs();
    d->writeIndex(
        [job = std::move(job)](StoreFile& file) {
            return file.database().run("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?)", job.id, job.item,
                job.outcome, job.endedAt);
        },
        std::move(done));
}

Result<JobOutcome> Store::getJob(const std::string& id) const
{
    auto reader = d->readIndex();
    if (!reader)
        return fail(reader.error());
    auto rows = (*reader)->query("SELECT id, item, outcome, ended_at FROM jobs WHERE id = ?", id);
    return takeOne<JobOutcome>(std::move(rows), takeJob,
        fail("jobs.unknown", "no such job, or it ended too long ago: " + std::string(cutText(id, 64))));
}

Result<std::vector<JobOutcome>> Store::listJobs() const
{
    auto reader = d->readIndex();
    if (!reader)
        return fail(reader.error());
    auto rows = (*reader)->query("SELECT id, item, outcome, ended_at FROM jobs ORDER BY ended_at DESC, id");
    return collect<JobOutcome>(std::move(rows), takeJob);
}

void Store::putKeeper(KeeperRecord keeper, Done<void> done)
{
    keeper.data = d->redactor()->json(std::move(keeper.data));
    d->writeIndex(
        [keeper = std::move(keeper)](StoreFile& file) {
            return file.database().run("INSERT OR REPLACE INTO keepers VALUES (?, ?, ?, ?, ?)", keeper.id,
                keeper.control, keeper.pid, keeper.startedAt, keeper.data);
        },
        std::move(done));
}

void Store::removeKeeper(const std::string& id, Done<void> done)
{
    d->writeIndex(
        [id](StoreFile& file) { return file.database().run("DELETE FROM keepers WHERE id = ?", id); },
        std::move(done));
}

Result<std::vector<KeeperRecord>> Store::keepers() const
{
    auto reader = d->readIndex();
    if (!reader)
        return fail(reader.error());
    auto rows =
        (*reader)->query("SELECT id, control, pid, started_at, data FROM keepers ORDER BY started_at, id");
    return collect<KeeperRecord>(std::move(rows), takeKeeper);
}

void Store::settle(std::function<void()> done)
{
    // A task of several steps ends in its cycle, and what runs alone comes behind that.
    d->writer->submitAlone(std::move(done));
}

void Store::prune(Done<void> done)
{
    d->writeIndex(
        [](StoreFile& file) -> Status {
            const std::int64_t oldest = wallMs() - keptMs;
            GB_TRY(file.database().run("DELETE FROM ops WHERE at < ?", oldest));
            return file.database().run("DELETE FROM jobs WHERE ended_at < ?", oldest);
        },
        std::move(done));
}

} // namespace gb
