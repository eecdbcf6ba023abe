// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <list>
#include <mutex>

#include "schema.h"

namespace gb {

// Read-only connections, lent to one thread each and kept for the next one.
class Readers
{
public:
    explicit Readers(FileOptions options) : m_options(std::move(options)) { }

    class Lent
    {
    public:
        Lent(Readers* pool, std::unique_ptr<Database> database)
            : m_pool(pool), m_database(std::move(database))
        { }
        Lent(Lent&&) = default;
        Lent& operator=(Lent&&) = delete;
        ~Lent()
        {
            if (m_database)
                m_pool->giveBack(std::move(m_database));
        }
        Database* operator->() const { return m_database.get(); }
        Database& operator*() const { return *m_database; }

    private:
        Readers* m_pool;
        std::unique_ptr<Database> m_database;
    };

    Result<Lent> take(const fs::path& path, const Schema& schema);
    void forget(const fs::path& path);
    void forgetAll();

private:
    void giveBack(std::unique_ptr<Database> database);

    FileOptions m_options;
    std::mutex m_mutex;
    std::list<std::unique_ptr<Database>> m_idle; // last used first
};

} // namespace gb
