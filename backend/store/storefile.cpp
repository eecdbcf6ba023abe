// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "storefile.h"

namespace gb {
namespace {

// A frame of the API holds 16 MiB; subscribers get batches well below it.
constexpr std::size_t batchBytes = 1U << 20U;

} // namespace

Result<std::unique_ptr<StoreFile>> StoreFile::open(
    const fs::path& path, const Schema& schema, std::string stream, const FileOptions& options)
{
    auto database = openForWriting(path, schema, options);
    if (!database)
        return fail(database.error());
    const Result<std::int64_t> last = (*database)->integer("SELECT max(seq) FROM events");
    if (!last)
        return fail(last.error());
    return std::unique_ptr<StoreFile>(new StoreFile(
        std::move(*database), std::move(stream), *last + 1, options.synchronous == Synchronous::Full));
}

Result<std::int64_t> StoreFile::append(std::int64_t at, std::string_view type, std::string_view data)
{
    GB_TRY(m_database->run("INSERT INTO events VALUES (?, ?, ?, ?)", m_next, at, type, data));
    std::string& text = m_part.text;
    if (m_part.first == 0)
        m_part.first = m_next;
    else
        text += ',';
    m_part.last = m_next;
    text.append("{\"seq\":").append(std::to_string(m_next)).append(",\"at\":").append(std::to_string(at));
    text.append(",\"type\":\"").append(type).append("\",\"data\":").append(data).append("}");
    return m_next++;
}

// In a write-ahead log a commit that does not wait is whole after a power cut or not there; the next one that
// waits brings it along.
Status StoreFile::wait(Durability durability)
{
    if (!m_canSync || durability == m_durability)
        return {};
    GB_TRY(m_database->execute(
        durability == Durability::PowerCut ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"));
    m_durability = durability;
    return {};
}

Status StoreFile::begin(Durability durability)
{
    m_ready.clear();
    m_part = {};
    GB_TRY(wait(durability));
    return m_database->run("BEGIN IMMEDIATE");
}

Status StoreFile::commit()
{
    Status done = m_database->run("COMMIT");
    if (done)
        m_durableNext = m_next;
    else
        rollBack();
    return done;
}

void StoreFile::rollBack()
{
    if (m_database->inTransaction())
        (void)m_database->run("ROLLBACK");
    m_ready.clear();
    m_part = {};
    m_next = m_durableNext;
}

Status StoreFile::beginPart()
{
    m_part = {};
    m_partNext = m_next;
    return m_database->run("SAVEPOINT part");
}

Status StoreFile::endPart()
{
    GB_TRY(m_database->run("RELEASE part"));
    if (m_part.first == 0)
        return {};
    if (!m_ready.empty() && m_ready.back().text.size() + m_part.text.size() < batchBytes) {
        m_ready.back().text.append(",").append(m_part.text);
        m_ready.back().last = m_part.last;
    } else {
        m_ready.push_back(std::move(m_part));
    }
    m_part = {};
    return {};
}

void StoreFile::undoPart()
{
    (void)m_database->run("ROLLBACK TO part");
    (void)m_database->run("RELEASE part");
    m_part = {};
    m_next = m_partNext;
}

std::vector<EventBatch> StoreFile::takeEvents()
{
    std::vector<EventBatch> batches;
    for (Encoded& encoded : m_ready) {
        auto text = std::make_shared<std::string>();
        text->reserve(encoded.text.size() + 2);
        text->append("[").append(encoded.text).append("]");
        batches.push_back({m_stream, encoded.first, encoded.last, std::move(text)});
    }
    m_ready.clear();
    return batches;
}

} // namespace gb
