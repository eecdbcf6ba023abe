// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <backend/base/clock.h>
#include <backend/base/hash.h>
#include <backend/base/ids.h>

#include "jsontext.h"
#include "store_p.h"

namespace gb {
namespace {

constexpr const char* runColumns =
    "SELECT id, kind, title, experiment, started_at, ended_at, calls, errors, pinned FROM runs ";

RunRecord takeRun(const Rows& rows)
{
    return {rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.integer(4), rows.integer(5),
        rows.integer(6), rows.integer(7), rows.integer(8) != 0};
}

Status writeRunMeta(StoreFile& file, const RunSpec& spec, std::int64_t startedAt)
{
    const std::pair<const char*, std::string> values[] = {{"id", spec.id}, {"kind", spec.kind},
        {"title", spec.title}, {"experiment", spec.experiment}, {"config", spec.config},
        {"interface", spec.interface}, {"started_at", std::to_string(startedAt)}};
    for (const auto& [key, value] : values)
        GB_TRY(file.database().run("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value));
    const std::string data =
        R"({"kind":)" + jsonString(spec.kind) + R"(,"title":)" + jsonString(spec.title) + "}";
    if (const auto seq = file.append(startedAt, "run.started", data); !seq)
        return fail(seq.error());
    return {};
}

Status closeRunMeta(StoreFile& file, std::int64_t endedAt)
{
    Database& database = file.database();
    const auto already = database.integer("SELECT count(*) FROM meta WHERE key = 'ended_at'");
    if (!already)
        return fail(already.error());
    if (*already > 0)
        return {};
    GB_TRY(database.run("INSERT INTO meta VALUES ('ended_at', ?)", std::to_string(endedAt)));
    if (const auto seq = file.append(endedAt, "run.ended", "{}"); !seq)
        return fail(seq.error());
    return {};
}

} // namespace

void Store::createRun(RunSpec spec, Done<RunRecord> done)
{
    if (spec.id.empty())
        spec.id = newId();
    if (!isId(spec.id) || (!spec.experiment.empty() && !isId(spec.experiment)))
        return done(fail("params.type", "a run and its experiment are named by UUIDs"));
    const auto redactor = d->redactor();
    spec.title = redactor->text(std::move(spec.title));
    spec.config = redactor->text(std::move(spec.config));
    spec.interface = redactor->text(std::move(spec.interface));
    {
        const std::unique_lock lock(d->mutex);
        if (!d->runPaths.emplace(spec.id, d->newRunPath(spec.id, spec.experiment)).second)
            return done(fail("runs.exists", "there is already a run " + spec.id));
    }
    RunRecord record{spec.id, spec.kind, spec.title, spec.experiment, wallMs(), 0, 0, 0, false};
    WriteTask task;
    task.steps.push_back(
        {spec.id, [spec, at = record.startedAt](StoreFile& file) { return writeRunMeta(file, spec, at); }});
    task.steps.push_back({std::string(), [record](StoreFile& file) {
                              return file.database().run(
                                  "INSERT INTO runs (id, kind, title, experiment, started_at) VALUES (?, ?, "
                                  "?, ?, ?)",
                                  record.id, record.kind, record.title, record.experiment, record.startedAt);
                          }});
    task.done = [this, record, done = std::move(done)](const Status& status) {
        if (status)
            return done(record);
        {
            const std::unique_lock lock(d->mutex);
            d->runPaths.erase(record.id);
        }
        done(fail(status.error()));
    };
    d->writer->submit(std::move(task));
}

void Store::endRun(const std::string& run, Done<void> done)
{
    const Result<fs::path> path = d->runPath(run);
    if (!path)
        return done(fail(path.error()));
    const std::int64_t now = wallMs();
    WriteTask task;
    task.steps.push_back({run, [now](StoreFile& file) { return closeRunMeta(file, now); }});
    task.steps.push_back({std::string(), [this, run, now, file = *path](StoreFile& index) {
                              // Without readers, closing leaves one complete file.
                              d->readers.forget(file);
                              return index.database().run(
                                  "UPDATE runs SET ended_at = ? WHERE id = ? AND ended_at = 0", now, run);
                          }});
    task.closeAfter = run;
    task.done = std::move(done);
    d->writer->submit(std::move(task));
}

void Store::pinRun(const std::string& run, bool pinned, Done<void> done)
{
    if (const auto path = d->runPath(run); !path)
        return done(fail(path.error()));
    d->writeIndex(
        [run, pinned](StoreFile& index) {
            return index.database().run("UPDATE runs SET pinned = ? WHERE id = ?", pinned, run);
        },
        std::move(done));
}

Result<std::vector<RunRecord>> Store::listRuns(int limit) const
{
    auto reader = d->readIndex();
    if (!reader)
        return fail(reader.error());
    const std::string sql = std::string(runColumns) + "ORDER BY started_at DESC, id DESC LIMIT ?";
    return collect<RunRecord>((*reader)->query(sql, std::clamp(limit, 1, 10000)), takeRun);
}

Result<RunRecord> Store::getRun(const std::string& run) const
{
    auto reader = d->readIndex();
    if (!reader)
        return fail(reader.error());
    return takeOne<RunRecord>((*reader)->query(std::string(runColumns) + "WHERE id = ?", run), takeRun,
        fail("runs.unknown", "no such run: " + std::string(cutText(run, 64)),
            Json{{"run", std::string(cutText(run, 64))}}));
}

Result<RunSpec> Store::runSpec(const std::string& run) const
{
    auto reader = d->readRun(run);
    if (!reader)
        return fail(reader.error());
    auto rows = (*reader)->query("SELECT key, value FROM meta");
    if (!rows)
        return fail(rows.error());
    RunSpec spec;
    const auto pairs = collect<std::pair<std::string, std::string>>(
        std::move(rows), [](const Rows& row) { return std::pair(row.text(0), row.text(1)); });
    if (!pairs)
        return fail(pairs.error());
    const std::pair<const char*, std::string RunSpec::*> members[] = {{"id", &RunSpec::id},
        {"kind", &RunSpec::kind}, {"title", &RunSpec::title}, {"experiment", &RunSpec::experiment},
        {"config", &RunSpec::config}, {"interface", &RunSpec::interface}};
    for (const auto& [key, value] : *pairs)
        for (const auto& [name, member] : members)
            if (key == name)
                spec.*member = value;
    return spec;
}

Result<fs::path> Store::runFile(const std::string& run) const
{
    return d->runPath(run);
}

void Store::putBlob(const std::string& run, std::string bytes, Done<std::string> done)
{
    // Small ones travel with the run; a large one is a file that several runs may share.
    constexpr std::size_t keptInRun = 64U << 10U;
    if (const auto path = d->runPath(run); !path)
        return done(fail(path.error()));
    bytes = d->redactor()->bytes(std::move(bytes));
    const std::string digest = sha256Hex(bytes);
    WriteTask task;
    task.bytes = bytes.size();
    if (bytes.size() < keptInRun) {
        task.steps.push_back({run, [digest, bytes = std::move(bytes)](StoreFile& file) -> Status {
                                  auto rows = file.database().query(
                                      "INSERT OR IGNORE INTO blobs VALUES (?, ?)", digest);
                                  if (!rows)
                                      return fail(rows.error());
                                  rows->bindBlob(2, bytes);
                                  if (const auto stored = rows->next(); !stored)
                                      return fail(stored.error());
                                  return {};
                              }});
    } else {
        task.steps.push_back({std::string(), [this, run, digest, bytes = std::move(bytes)](StoreFile& index) {
                                  return writeSharedBlob(*d, index, run, digest, bytes);
                              }});
    }
    task.done = [digest, done = std::move(done)](
                    const Status& status) { status ? done(digest) : done(fail(status.error())); };
    d->writer->submit(std::move(task));
}

Status writeSharedBlob(const Store::Private& data, StoreFile& index, const std::string& run,
    const std::string& digest, std::string_view bytes)
{
    GB_TRY(data.blobs.put(digest, bytes));
    return index.database().run(
        "INSERT OR IGNORE INTO blob_refs VALUES (?, ?, ?)", digest, run, bytes.size());
}

Result<std::string> Store::getBlob(const std::string& run, const std::string& digest) const
{
    auto reader = d->readRun(run);
    if (!reader)
        return fail(reader.error());
    const auto inside =
        takeOne<std::string>((*reader)->query("SELECT bytes FROM blobs WHERE digest = ?", digest),
            [](const Rows& rows) { return rows.text(0); }, fail("blobs.unknown", "no such blob"));
    if (inside || inside.error().code != "blobs.unknown")
        return inside;
    return d->blobs.get(digest);
}

} // namespace gb
