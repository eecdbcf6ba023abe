// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <charconv>
#include <limits>

#include <backend/base/hash.h>
#include <backend/base/ids.h>

#include "callquery.h"
#include "jsontext.h"
#include "store_p.h"

namespace gb {
namespace {

constexpr std::size_t largestResult = 1U << 20U;
constexpr std::size_t previewBytes = 4096;
constexpr int keyShift = 20;

using Include = CallRecord::Include;

Status checkRecord(const CallRecord& record)
{
    if (!isId(record.id) || !isId(record.run))
        return fail("calls.bad_record", "a call and its run are named by UUIDs");
    for (const std::string* text :
        {&record.args, &record.output, &record.result, &record.error, &record.warnings})
        if (!isJsonText(*text))
            return fail("calls.bad_record", "a part of the call record is not valid JSON");
    return {};
}

void redactRecord(CallRecord& record, const Redactor& redactor)
{
    if (redactor.empty())
        return;
    for (std::string CallRecord::*member : {&CallRecord::args, &CallRecord::output, &CallRecord::result,
             &CallRecord::error, &CallRecord::warnings})
        record.*member = redactor.json(std::move(record.*member));
    for (std::string CallRecord::*member :
        {&CallRecord::interfaceName, &CallRecord::callerName, &CallRecord::preview, &CallRecord::comment})
        record.*member = redactor.text(std::move(record.*member));
}

// What is beyond 1 MiB stays whole only when somebody pinned the call; gives back the blob to write then.
std::string cutResult(CallRecord& record)
{
    if (record.resultBytes == 0)
        record.resultBytes = std::int64_t(record.result.size());
    if (record.result.size() <= largestResult)
        return {};
    record.preview = std::string(cutText(record.result, previewBytes));
    if (record.resultDigest.empty())
        record.resultDigest = sha256Hex(record.result);
    std::string whole = std::move(record.result);
    record.result = "null";
    record.resultCut = true;
    return record.pinned ? whole : std::string();
}

Status writeRunCall(StoreFile& file, const CallRecord& record, const std::string& blob)
{
    Database& database = file.database();
    GB_TRY(database.run("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", record.id,
        record.at, record.toJson(Include::Head), record.args, record.output, record.error, record.warnings,
        record.result, blob, record.pinned, record.comment));
    if (database.changes() == 0)
        return {};
    const auto seq = file.append(record.at, "call.ended", openSummary(record) + "}");
    return seq ? Status() : Status(fail(seq.error()));
}

Result<std::int64_t> newKey(Database& index, std::int64_t at)
{
    const std::int64_t first = std::clamp<std::int64_t>(at, 0, std::int64_t(1) << 42) << keyShift;
    const std::int64_t last = first + (std::int64_t(1) << keyShift) - 1;
    auto rows = index.query("SELECT max(key) FROM calls WHERE key BETWEEN ? AND ?", first, last);
    if (!rows)
        return fail(rows.error());
    const Result<bool> found = rows->next();
    if (!found)
        return fail(found.error());
    return rows->isNull(0) ? first : rows->integer(0) + 1;
}

Status writeIndexCall(Database& index, const CallRecord& record)
{
    const Result<std::int64_t> key = newKey(index, record.at);
    if (!key)
        return fail(key.error());
    GB_TRY(index.run("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *key,
        record.id, record.run, record.interfaceId, record.interfaceName, record.fn, record.callerKind,
        record.callerName, record.durationNs(), record.state, record.pinned, record.comment,
        openSummary(record)));
    if (index.changes() == 0)
        return {}; // a keeper that did not hear our answer sends again
    GB_TRY(index.run("INSERT INTO calls_text (rowid, text, comment) VALUES (?, ?, ?)", *key,
        searchText(record), record.comment));
    for (const auto& [name, value] : scalarArguments(record.args))
        GB_TRY(index.run("INSERT OR IGNORE INTO call_args VALUES (?, ?, ?)", name, value, *key));
    return index.run("UPDATE runs SET calls = calls + 1, errors = errors + ? WHERE id = ?",
        record.state == "ok" ? 0 : 1, record.run);
}

CallRecord takeRecord(const Rows& rows)
{
    CallRecord record = CallRecord::parse(rows.view(0)).value_or(CallRecord());
    record.args = rows.text(1);
    record.output = rows.text(2);
    record.error = rows.text(3);
    record.warnings = rows.text(4);
    record.result = rows.text(5);
    record.pinned = rows.integer(7) != 0;
    record.comment = rows.text(8);
    return record;
}

tl::unexpected<Error> unknownCall(const std::string& id)
{
    const std::string shown(cutText(id, 64));
    return fail("calls.unknown", "no such call: " + shown, Json{{"call", shown}});
}

Result<std::string> runOfCall(Database& index, const std::string& id)
{
    return takeOne<std::string>(
        index.query("SELECT run FROM calls WHERE id = ?", id), [](const Rows& rows) { return rows.text(0); },
        unknownCall(id));
}

Status annotateIn(Database& database, const std::string& id, const CallAnnotation& annotation)
{
    if (annotation.pinned)
        GB_TRY(database.run("UPDATE calls SET pinned = ? WHERE id = ?", *annotation.pinned, id));
    if (annotation.comment)
        GB_TRY(database.run("UPDATE calls SET comment = ? WHERE id = ?", *annotation.comment, id));
    return {};
}

} // namespace

void Store::putCall(CallRecord record, Done<void> done)
{
    if (Status checked = checkRecord(record); !checked)
        return done(std::move(checked));
    if (const auto path = d->runPath(record.run); !path)
        return done(fail(path.error()));
    redactRecord(record, *d->redactor());
    std::string whole = cutResult(record);
    const std::string blob = whole.empty() ? std::string() : sha256Hex(whole);
    WriteTask task;
    task.bytes = record.args.size() + record.output.size() + record.result.size() + whole.size() + 2048;
    if (!whole.empty())
        task.steps.push_back(
            {std::string(), [this, run = record.run, blob, whole = std::move(whole)](StoreFile& index) {
                 return writeSharedBlob(*d, index, run, blob, whole);
             }});
    auto shared = std::make_shared<const CallRecord>(std::move(record));
    task.steps.push_back(
        {shared->run, [shared, blob](StoreFile& file) { return writeRunCall(file, *shared, blob); }});
    task.steps.push_back(
        {std::string(), [shared](StoreFile& index) { return writeIndexCall(index.database(), *shared); }});
    task.done = std::move(done);
    d->writer->submit(std::move(task));
}

Result<CallRecord> Store::getCall(const std::string& id) const
{
    auto index = d->readIndex();
    if (!index)
        return fail(index.error());
    const Result<std::string> run = runOfCall(**index, id);
    if (!run)
        return fail(run.error());
    auto reader = d->readRun(*run);
    if (!reader)
        return fail(reader.error());
    std::string blob;
    Result<CallRecord> record = takeOne<CallRecord>(
        (*reader)->query(
            "SELECT head, args, output, error, warnings, result, result_blob, pinned, comment FROM "
            "calls WHERE id = ?",
            id),
        [&](const Rows& rows) {
            blob = rows.text(6);
            return takeRecord(rows);
        },
        unknownCall(id));
    if (!record || blob.empty())
        return record;
    Result<std::string> whole = d->blobs.get(blob);
    if (!whole)
        return fail(whole.error());
    record->result = std::move(*whole);
    record->resultCut = false;
    return record;
}

Result<CallPage> Store::listCalls(const CallFilter& filter, const std::string& before, int limit) const
{
    std::int64_t key = std::numeric_limits<std::int64_t>::max();
    if (!before.empty()) {
        const auto [end, error] = std::from_chars(before.data(), before.data() + before.size(), key);
        if (error != std::errc() || end != before.data() + before.size())
            return fail("params.type", "\"before\" must be the \"next\" of an earlier page");
    }
    auto index = d->readIndex();
    if (!index)
        return fail(index.error());
    const int wanted = std::clamp(limit, 1, 500);
    const Result<CallQuery> query = CallQuery::plan(**index, filter, key, wanted + 1);
    if (!query)
        return fail(query.error());
    auto rows = query->run(**index);
    if (!rows)
        return fail(rows.error());
    CallPage page;
    for (;;) {
        const Result<bool> found = rows->next();
        if (!found)
            return fail(found.error());
        if (!*found)
            return page;
        if (int(page.calls.size()) == wanted) {
            page.next = std::to_string(key);
            return page;
        }
        key = rows->integer(0);
        page.calls.push_back(rows->text(1)
            + (rows->integer(2) != 0 ? R"(,"pinned":true)" : R"(,"pinned":false)") + R"(,"comment":)"
            + jsonString(rows->view(3)) + "}");
    }
}

void Store::annotateCall(const std::string& id, CallAnnotation annotation, Done<void> done)
{
    auto reader = d->readIndex();
    if (!reader)
        return done(fail(reader.error()));
    const Result<std::string> run = runOfCall(**reader, id);
    if (!run)
        return done(fail(run.error()));
    if (annotation.comment)
        annotation.comment = d->redactor()->text(std::move(*annotation.comment));
    WriteTask task;
    task.steps.push_back(
        {*run, [id, annotation](StoreFile& file) { return annotateIn(file.database(), id, annotation); }});
    task.steps.push_back({std::string(), [id, annotation](StoreFile& file) -> Status {
                              Database& index = file.database();
                              GB_TRY(annotateIn(index, id, annotation));
                              if (!annotation.comment)
                                  return {};
                              return index.run("UPDATE calls_text SET comment = ? WHERE rowid = (SELECT key "
                                               "FROM calls WHERE id = ?)",
                                  *annotation.comment, id);
                          }});
    task.done = std::move(done);
    d->writer->submit(std::move(task));
}

} // namespace gb
