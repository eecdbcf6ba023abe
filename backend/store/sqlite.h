// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <sqlite3.h>

#include <backend/base/files.h>

namespace gb {

class Database;

// A prepared statement with its values bound; gives itself back to the database's cache when it goes.
class Rows
{
public:
    Rows(Database* database, std::string sql, sqlite3_stmt* statement)
        : m_database(database), m_sql(std::move(sql)), m_statement(statement)
    { }
    Rows(Rows&& other) noexcept
        : m_database(other.m_database), m_sql(std::move(other.m_sql)),
          m_statement(std::exchange(other.m_statement, nullptr))
    { }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;
    Rows& operator=(Rows&&) = delete;
    ~Rows();

    template <typename T>
    void bind(int index, const T& value)
    {
        if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
            sqlite3_bind_int64(m_statement, index, static_cast<sqlite3_int64>(value));
        else
            bindText(index, std::string_view(value));
    }
    void bindBlob(int index, std::string_view bytes);

    Result<bool> next();
    std::int64_t integer(int column) const { return sqlite3_column_int64(m_statement, column); }
    bool isNull(int column) const { return sqlite3_column_type(m_statement, column) == SQLITE_NULL; }
    // Valid until next().
    std::string_view view(int column) const;
    std::string text(int column) const { return std::string(view(column)); }

private:
    void bindText(int index, std::string_view text);

    Database* m_database;
    std::string m_sql;
    sqlite3_stmt* m_statement;
};

// One connection, used by one thread at a time. Errors carry the store's codes and name the file.
class Database
{
public:
    enum class Mode { ReadWrite, ReadOnly };

    static Result<std::unique_ptr<Database>> open(
        const fs::path& path, Mode mode, const std::string& vfs = {});
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Status execute(const char* sql);

    // Texts are not copied: they must live as long as the rows.
    template <typename... Values>
    Result<Rows> query(std::string_view sql, const Values&... values)
    {
        Result<Rows> rows = prepare(sql);
        if (rows) {
            int index = 0;
            (rows->bind(++index, values), ...);
        }
        return rows;
    }

    template <typename... Values>
    Status run(std::string_view sql, const Values&... values)
    {
        Result<Rows> rows = query(sql, values...);
        if (!rows)
            return fail(std::move(rows).error());
        if (const auto stepped = rows->next(); !stepped)
            return fail(stepped.error());
        return {};
    }

    Result<std::int64_t> integer(std::string_view sql); // first column of the first row, 0 without one
    int changes() const { return sqlite3_changes(m_handle); }
    bool inTransaction() const { return sqlite3_get_autocommit(m_handle) == 0; }
    void watchLog(); // from now on walPages() tells how long the log is
    int walPages() const { return m_walPages; }
    void checkpoint();
    sqlite3* handle() const { return m_handle; }
    const fs::path& path() const { return m_path; }

    Error error() const;

private:
    friend class Rows;
    Database(fs::path path, sqlite3* handle) : m_path(std::move(path)), m_handle(handle) { }
    Result<Rows> prepare(std::string_view sql);
    void giveBack(std::string sql, sqlite3_stmt* statement);
    static int walGrew(void* self, sqlite3*, const char*, int pages);

    fs::path m_path;
    sqlite3* m_handle;
    std::unordered_map<std::string, sqlite3_stmt*> m_idle;
    int m_walPages = 0;
};

// All rows, each made into a T by take(rows).
template <typename T, typename Take>
Result<std::vector<T>> collect(Result<Rows> rows, Take&& take)
{
    if (!rows)
        return fail(std::move(rows).error());
    std::vector<T> all;
    for (;;) {
        const Result<bool> more = rows->next();
        if (!more)
            return fail(more.error());
        if (!*more)
            return all;
        all.push_back(take(*rows));
    }
}

// The first row made into a T, or `missing`.
template <typename T, typename Take>
Result<T> takeOne(Result<Rows> rows, Take&& take, tl::unexpected<Error> missing)
{
    if (!rows)
        return fail(std::move(rows).error());
    const Result<bool> found = rows->next();
    if (!found)
        return fail(found.error());
    if (!*found)
        return missing;
    return take(*rows);
}

// The store's error for a failed file operation beside SQLite.
tl::unexpected<Error> failStore(std::string_view what, const fs::path& path, int errorNumber);

} // namespace gb
