// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <variant>

#include "callfilter.h"
#include "sqlite.h"

namespace gb {

using SqlValue = std::variant<std::int64_t, std::string>;

// A filter as SQL. What a person typed is only ever bound, never part of the text.
class CallQuery
{
public:
    // Looks into the index to start from the condition that fewest calls meet.
    static Result<CallQuery> plan(Database& index, const CallFilter& filter, std::int64_t before, int limit);

    Result<Rows> run(Database& index) const; // key, summary, pinned, comment; newest first
    const std::string& sql() const { return m_sql; }

private:
    std::string m_sql;
    std::vector<SqlValue> m_values;
};

} // namespace gb
