// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sqlite.h"

#include <cerrno>
#include <cstring>

namespace gb {
namespace {

Error diskFull(const fs::path& path)
{
    return {"store.disk_full",
        "no space is left to write " + path.string()
            + "; nothing acknowledged is lost, free some space and go on",
        Json{{"path", path.string()}}};
}

Error readOnly(const fs::path& path)
{
    return {"store.read_only",
        path.string() + " cannot be written; check its owner, its permissions and how it is mounted",
        Json{{"path", path.string()}}};
}

Error sqliteError(const fs::path& path, int code, int systemError, const char* text)
{
    const bool noSpace = systemError == ENOSPC || systemError == EDQUOT;
    const bool noRight = systemError == EROFS || systemError == EACCES || systemError == EPERM;
    const int primary = code & 0xff;
    if (primary == SQLITE_FULL || (primary == SQLITE_IOERR && noSpace))
        return diskFull(path);
    if (primary == SQLITE_READONLY || primary == SQLITE_PERM || (primary == SQLITE_CANTOPEN && noRight)
        || (primary == SQLITE_IOERR && systemError == EROFS))
        return readOnly(path);
    const Json data{{"path", path.string()}, {"sqlite", code}};
    const std::string sentence = path.string() + ": " + text;
    switch (primary) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return {"store.damaged", sentence, data};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return {"store.busy", sentence, data};
    case SQLITE_TOOBIG:
        return {"store.too_large", sentence, data};
    case SQLITE_CONSTRAINT:
        return {"store.constraint", sentence, data};
    default:
        return {"store.io", sentence, data};
    }
}

} // namespace

tl::unexpected<Error> failStore(std::string_view what, const fs::path& path, int errorNumber)
{
    if (errorNumber == ENOSPC || errorNumber == EDQUOT)
        return fail(diskFull(path));
    if (errorNumber == EROFS || errorNumber == EACCES || errorNumber == EPERM)
        return fail(readOnly(path));
    return failErrno(what, path.string(), errorNumber);
}

Rows::~Rows()
{
    if (m_statement != nullptr)
        m_database->giveBack(std::move(m_sql), m_statement);
}

void Rows::bindText(int index, std::string_view text)
{
    // A null pointer would be bound as NULL; an empty text is not that.
    sqlite3_bind_text64(m_statement, index, text.data() == nullptr ? "" : text.data(), text.size(),
        SQLITE_STATIC, SQLITE_UTF8);
}

void Rows::bindBlob(int index, std::string_view bytes)
{
    if (bytes.empty())
        sqlite3_bind_zeroblob(m_statement, index, 0);
    else
        sqlite3_bind_blob64(m_statement, index, bytes.data(), bytes.size(), SQLITE_STATIC);
}

Result<bool> Rows::next()
{
    const int code = sqlite3_step(m_statement);
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    return fail(m_database->error());
}

std::string_view Rows::view(int column) const
{
    const void* bytes = sqlite3_column_blob(m_statement, column);
    const int size = sqlite3_column_bytes(m_statement, column);
    return bytes == nullptr ? std::string_view()
                            : std::string_view(static_cast<const char*>(bytes), std::size_t(size));
}

Result<std::unique_ptr<Database>> Database::open(const fs::path& path, Mode mode, const std::string& vfs)
{
    const int flags = SQLITE_OPEN_NOMUTEX
        | (mode == Mode::ReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
    std::unique_ptr<Database> database(new Database(path, handle));
    if (code != SQLITE_OK)
        return fail(database->error());
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, 5000);
    // A record is not a program: nothing in a damaged or foreign file may run functions of ours.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    if (mode == Mode::ReadOnly)
        sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return database;
}

Database::~Database()
{
    for (const auto& [sql, statement] : m_idle)
        sqlite3_finalize(statement);
    sqlite3_close_v2(m_handle);
}

Status Database::execute(const char* sql)
{
    if (sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return fail(error());
    return {};
}

Result<std::int64_t> Database::integer(std::string_view sql)
{
    Result<Rows> rows = query(sql);
    if (!rows)
        return fail(rows.error());
    const Result<bool> found = rows->next();
    if (!found)
        return fail(found.error());
    return *found ? rows->integer(0) : 0;
}

void Database::watchLog()
{
    // Takes the place of SQLite's own folding inside a commit.
    sqlite3_wal_hook(m_handle, &Database::walGrew, this);
}

void Database::checkpoint()
{
    // Passive: what readers still need stays in the log and is moved the next time.
    sqlite3_wal_checkpoint_v2(m_handle, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    m_walPages = 0;
}

Error Database::error() const
{
    if (m_handle == nullptr)
        return {"store.io", m_path.string() + ": out of memory", Json::object()};
    return sqliteError(
        m_path, sqlite3_extended_errcode(m_handle), sqlite3_system_errno(m_handle), sqlite3_errmsg(m_handle));
}

Result<Rows> Database::prepare(std::string_view sql)
{
    std::string text(sql);
    if (const auto it = m_idle.find(text); it != m_idle.end()) {
        sqlite3_stmt* statement = it->second;
        m_idle.erase(it);
        return Rows(this, std::move(text), statement);
    }
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(m_handle, sql.data(), int(sql.size()), &statement, nullptr) != SQLITE_OK)
        return fail(error());
    return Rows(this, std::move(text), statement);
}

void Database::giveBack(std::string sql, sqlite3_stmt* statement)
{
    constexpr std::size_t keptStatements = 64;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (m_idle.size() >= keptStatements || !m_idle.emplace(std::move(sql), statement).second)
        sqlite3_finalize(statement);
}

int Database::walGrew(void* self, sqlite3*, const char*, int pages)
{
    static_cast<Database*>(self)->m_walPages = pages;
    return SQLITE_OK;
}

} // namespace gb
