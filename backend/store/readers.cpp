// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "readers.h"

#include <algorithm>

namespace gb {

Result<Readers::Lent> Readers::take(const fs::path& path, const Schema& schema)
{
    {
        const std::lock_guard lock(m_mutex);
        const auto found = std::find_if(
            m_idle.begin(), m_idle.end(), [&](const auto& database) { return database->path() == path; });
        if (found != m_idle.end()) {
            std::unique_ptr<Database> database = std::move(*found);
            m_idle.erase(found);
            return Lent(this, std::move(database));
        }
    }
    auto opened = openForReading(path, schema, m_options);
    if (!opened)
        return fail(opened.error());
    return Lent(this, std::move(*opened));
}

void Readers::forget(const fs::path& path)
{
    const std::lock_guard lock(m_mutex);
    m_idle.remove_if([&](const auto& database) { return database->path() == path; });
}

void Readers::forgetAll()
{
    const std::lock_guard lock(m_mutex);
    m_idle.clear();
}

void Readers::giveBack(std::unique_ptr<Database> database)
{
    constexpr std::size_t mostIdle = 16;
    const std::lock_guard lock(m_mutex);
    m_idle.push_front(std::move(database));
    if (m_idle.size() > mostIdle)
        m_idle.pop_back();
}

} // namespace gb
