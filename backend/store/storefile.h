// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "records.h"
#include "schema.h"

namespace gb {

// A file open for writing, used by the writer's thread only. Holds the stream's next number and the events of
// the transaction under way, to be handed on once they are durable.
class StoreFile
{
public:
    static Result<std::unique_ptr<StoreFile>> open(
        const fs::path& path, const Schema& schema, std::string stream, const FileOptions& options);

    Database& database() { return *m_database; }
    Result<std::int64_t> append(std::int64_t at, std::string_view type, std::string_view data);

    Status begin(Durability durability);
    Status commit(); // on failure everything since begin() is undone
    void rollBack();
    // A part of the transaction that can fail alone.
    Status beginPart();
    Status endPart();
    void undoPart();

    // The events of the transaction that was just committed.
    std::vector<EventBatch> takeEvents();

private:
    struct Encoded
    {
        std::int64_t first = 0;
        std::int64_t last = 0;
        std::string text;
    };

    StoreFile(std::unique_ptr<Database> database, std::string stream, std::int64_t next, bool canSync)
        : m_database(std::move(database)), m_stream(std::move(stream)), m_next(next), m_durableNext(next),
          m_canSync(canSync)
    { }
    Status wait(Durability durability);

    std::unique_ptr<Database> m_database;
    std::string m_stream;
    std::int64_t m_next;
    std::int64_t m_durableNext;
    std::int64_t m_partNext = 0;
    bool m_canSync;
    Durability m_durability = Durability::PowerCut;
    std::vector<Encoded> m_ready; // parts of this transaction that are complete
    Encoded m_part;
};

} // namespace gb
