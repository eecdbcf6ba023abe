// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "schema.h"

namespace gb {
namespace {

// `calls.key` is (milliseconds since 1970) * 2^20 + n: newest first is then simply descending key, in every
// index and in the full-text index too, so that a page never needs a sort.
const char indexVersion1[] = R"(
CREATE TABLE events (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE ops (op TEXT PRIMARY KEY, method TEXT NOT NULL, digest TEXT NOT NULL, session TEXT NOT NULL,
    at INTEGER NOT NULL, outcome TEXT) WITHOUT ROWID;
CREATE INDEX ops_at ON ops (at);
CREATE TABLE intents (id TEXT PRIMARY KEY, kind TEXT NOT NULL, data TEXT NOT NULL, at INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE runs (id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, experiment TEXT NOT NULL,
    started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,
    errors INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX runs_started ON runs (started_at);
CREATE TABLE calls (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run TEXT NOT NULL,
    interface_id TEXT NOT NULL, interface_name TEXT NOT NULL, fn TEXT NOT NULL, caller_kind TEXT NOT NULL,
    caller_name TEXT NOT NULL, duration INTEGER NOT NULL, state TEXT NOT NULL, pinned INTEGER NOT NULL,
    comment TEXT NOT NULL, summary TEXT NOT NULL);
CREATE INDEX calls_run ON calls (run);
CREATE INDEX calls_fn ON calls (fn);
CREATE INDEX calls_interface_id ON calls (interface_id);
CREATE INDEX calls_interface_name ON calls (interface_name);
CREATE INDEX calls_caller_kind ON calls (caller_kind);
CREATE INDEX calls_caller_name ON calls (caller_name);
CREATE INDEX calls_state ON calls (state);
CREATE INDEX calls_duration ON calls (duration);
CREATE INDEX calls_pinned ON calls (pinned) WHERE pinned = 1;
CREATE TABLE call_args (name TEXT NOT NULL, value TEXT NOT NULL COLLATE NOCASE, call INTEGER NOT NULL,
    PRIMARY KEY (name, value, call)) WITHOUT ROWID;
CREATE INDEX call_args_call ON call_args (call);
CREATE VIRTUAL TABLE calls_text USING fts5(text, comment, tokenize = 'unicode61');
CREATE TABLE jobs (id TEXT PRIMARY KEY, item TEXT NOT NULL, outcome TEXT NOT NULL, ended_at INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE keepers (id TEXT PRIMARY KEY, control TEXT NOT NULL, pid INTEGER NOT NULL,
    started_at INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE blob_refs (digest TEXT NOT NULL, run TEXT NOT NULL, bytes INTEGER NOT NULL,
    PRIMARY KEY (digest, run)) WITHOUT ROWID;
CREATE INDEX blob_refs_run ON blob_refs (run);
)";

const char runVersion1[] = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE calls (id TEXT PRIMARY KEY, at INTEGER NOT NULL, head TEXT NOT NULL, args TEXT NOT NULL,
    output TEXT NOT NULL, error TEXT NOT NULL, warnings TEXT NOT NULL, result TEXT, result_blob TEXT,
    pinned INTEGER NOT NULL, comment TEXT NOT NULL);
CREATE TABLE blobs (digest TEXT PRIMARY KEY, bytes BLOB NOT NULL);
)";

const char* const indexMigrations[] = {indexVersion1};
const char* const runMigrations[] = {runVersion1};

Result<std::int64_t> fileVersion(Database& database, const Schema& schema)
{
    const Result<std::int64_t> version = database.integer("PRAGMA user_version");
    if (!version)
        return version;
    if (*version > schema.version)
        return fail("store.newer",
            database.path().string() + " was written by a newer Glovebox (format " + std::to_string(*version)
                + ", this program knows " + std::to_string(schema.version)
                + "); it was left untouched, use the newer program",
            Json{{"path", database.path().string()}, {"version", *version}, {"known", schema.version}});
    const Result<std::int64_t> id = database.integer("PRAGMA application_id");
    if (!id)
        return id;
    if (*version > 0 && *id != schema.applicationId)
        return fail("store.damaged", database.path().string() + " is not a Glovebox file of this kind",
            Json{{"path", database.path().string()}});
    return version;
}

// Looks through a read-only connection, because one that may write would fold the log back into the file.
Status refuseNewer(const fs::path& path, const Schema& schema, const FileOptions& options)
{
    auto reader = Database::open(path, Database::Mode::ReadOnly, options.vfs);
    if (!reader)
        return {}; // not there yet, or not readable: opening for writing says what is wrong
    const Result<std::int64_t> version = fileVersion(**reader, schema);
    if (!version && (version.error().code == "store.newer" || version.error().code == "store.damaged"))
        return fail(version.error());
    return {};
}

Status migrate(Database& database, const Schema& schema)
{
    const Result<std::int64_t> before = fileVersion(database, schema);
    if (!before)
        return fail(before.error());
    if (*before == schema.version)
        return {};
    GB_TRY(database.execute("BEGIN IMMEDIATE"));
    // Looked at again now that nobody else can write.
    const Result<std::int64_t> version = fileVersion(database, schema);
    Status done = version ? Status() : Status(fail(version.error()));
    for (std::int64_t v = version.value_or(schema.version); done && v < schema.version; ++v)
        done = database.execute(schema.migrations[v]);
    if (done) {
        const std::string marks = "PRAGMA application_id = " + std::to_string(schema.applicationId)
            + "; PRAGMA user_version = " + std::to_string(schema.version) + "; COMMIT";
        done = database.execute(marks.c_str());
    }
    if (!done && database.inTransaction())
        (void)database.execute("ROLLBACK");
    return done;
}

} // namespace

const Schema indexSchema{0x47426978, indexMigrations, 1};
const Schema runSchema{0x4742726e, runMigrations, 1};

Result<std::unique_ptr<Database>> openForWriting(
    const fs::path& path, const Schema& schema, const FileOptions& options)
{
    GB_TRY(refuseNewer(path, schema, options));
    auto database = Database::open(path, Database::Mode::ReadWrite, options.vfs);
    if (!database)
        return database;
    Database& opened = **database;
    GB_TRY(opened.execute("PRAGMA journal_mode = WAL"));
    GB_TRY(opened.execute(
        options.synchronous == Synchronous::Full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"));
    GB_TRY(opened.execute("PRAGMA cache_size = -16000"));
    opened.watchLog();
    GB_TRY(migrate(opened, schema));
    return database;
}

Result<std::unique_ptr<Database>> openForReading(
    const fs::path& path, const Schema& schema, const FileOptions& options)
{
    auto database = Database::open(path, Database::Mode::ReadOnly, options.vfs);
    if (!database)
        return database;
    const Result<std::int64_t> version = fileVersion(**database, schema);
    if (!version)
        return fail(version.error());
    GB_TRY((*database)->execute("PRAGMA query_only = 1; PRAGMA cache_size = -4000"));
    return database;
}

} // namespace gb
