// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callquery.h"

#include <algorithm>
#include <optional>

#include <backend/base/ids.h>

#include "callrecord.h"

namespace gb {
namespace {

using Term = CallFilter::Term;
using Field = CallFilter::Field;
using Compare = CallFilter::Compare;

// One condition on a call. `column` is set when an index of that name can find its calls.
struct Condition
{
    std::string column;
    std::string test; // " = ?"
    std::string free; // a whole expression instead of column and test
    std::vector<SqlValue> values;
    bool negated = false;
};

const char* compareSign(Compare compare)
{
    switch (compare) {
    case Compare::Less:
        return " < ?";
    case Compare::LessOrEqual:
        return " <= ?";
    case Compare::Greater:
        return " > ?";
    case Compare::GreaterOrEqual:
        return " >= ?";
    case Compare::Equal:
        break;
    }
    return " = ?";
}

// The keys a page may hold. Keys begin with the time, so times are limits of it and cost nothing.
struct KeyRange
{
    std::int64_t from = 0;
    std::int64_t before = 0;
};

Compare opposite(Compare compare)
{
    switch (compare) {
    case Compare::Less:
        return Compare::GreaterOrEqual;
    case Compare::LessOrEqual:
        return Compare::Greater;
    case Compare::Greater:
        return Compare::LessOrEqual;
    case Compare::GreaterOrEqual:
        return Compare::Less;
    case Compare::Equal:
        break;
    }
    return Compare::Equal;
}

std::int64_t firstKey(std::int64_t milliseconds)
{
    return std::clamp<std::int64_t>(milliseconds, 0, std::int64_t(1) << 42U) << 20U;
}

void narrow(KeyRange& range, const Term& term)
{
    // A day is an interval: later than it begins after its end.
    const Compare compare = term.negated ? opposite(term.compare) : term.compare;
    if (compare == Compare::Less || compare == Compare::LessOrEqual || compare == Compare::Equal)
        range.before = std::min(range.before, firstKey(compare == Compare::Less ? term.number : term.end));
    if (compare == Compare::Greater || compare == Compare::GreaterOrEqual || compare == Compare::Equal)
        range.from = std::max(range.from, firstKey(compare == Compare::Greater ? term.end : term.number));
}

Condition timeCondition(const Term& term)
{
    return {{}, {}, "(calls.key >= ? AND calls.key < ?)", {firstKey(term.number), firstKey(term.end)}};
}

// `*` stands for anything, everything else for itself.
std::string likePattern(std::string_view text)
{
    std::string pattern;
    for (const char c : text) {
        if (c == '%' || c == '_' || c == '\\')
            pattern += '\\';
        pattern += c == '*' ? '%' : c;
    }
    return pattern;
}

bool hasStar(const Term& term)
{
    return term.text.find('*') != std::string::npos;
}

Condition argumentCondition(const Term& term)
{
    const std::string start = "EXISTS (SELECT 1 FROM call_args WHERE call_args.name = ? AND "
                              "call_args.call = calls.key AND call_args.value ";
    if (!hasStar(term))
        return {{}, {}, start + "= ?)", {term.name, term.text}};
    return {{}, {}, start + "LIKE ? ESCAPE '\\')", {term.name, likePattern(term.text)}};
}

std::string matchText(const Term& term)
{
    std::string text = "\"";
    for (const char c : term.text) {
        text += c;
        if (c == '"')
            text += c;
    }
    return text + (term.prefix ? "\" *" : "\"");
}

Condition condition(const Term& term)
{
    switch (term.field) {
    case Field::Word:
        break; // startFromWords()
    case Field::Function:
        return {"fn", " = ?", {}, {term.text}};
    case Field::State:
        return {"state", " = ?", {}, {term.text}};
    case Field::Caller: {
        const bool kind = term.text == "person" || term.text == "script" || term.text == "agent";
        return {kind ? "caller_kind" : "caller_name", " = ?", {}, {term.text}};
    }
    case Field::Interface:
        return {isId(term.text) ? "interface_id" : "interface_name", " = ?", {}, {term.text}};
    case Field::Run:
        return {"run", " = ?", {}, {term.text}};
    case Field::Duration:
        return {"duration", compareSign(term.compare), {}, {term.number}};
    case Field::Time:
        return timeCondition(term);
    case Field::Pinned:
        return {"pinned", term.number != 0 ? " = 1" : " = 0", {}, {}};
    case Field::Argument:
        return argumentCondition(term);
    }
    return {};
}

Status bindValues(Rows& rows, const std::vector<SqlValue>& values)
{
    int index = 0;
    for (const SqlValue& value : values) {
        ++index;
        if (const auto* number = std::get_if<std::int64_t>(&value))
            rows.bind(index, *number);
        else
            rows.bind(index, std::get<std::string>(value));
    }
    return {};
}

constexpr std::int64_t fewCalls = 8000;

// How many calls meet it, counted up to fewCalls: cheap, and all that choosing needs.
Result<std::int64_t> countUpToFew(Database& index, const Condition& c)
{
    const std::string sql = "SELECT count(*) FROM (SELECT 1 FROM calls WHERE " + c.column + c.test + " LIMIT "
        + std::to_string(fewCalls) + ")";
    auto rows = index.query(sql);
    if (!rows)
        return fail(rows.error());
    GB_TRY(bindValues(*rows, c.values));
    const Result<bool> found = rows->next();
    if (!found)
        return fail(found.error());
    return rows->integer(0);
}

bool canLead(const Condition& c)
{
    // Most calls are not pinned, so looking for those in the index of pinned ones makes no sense.
    const bool notPinned = c.column == "pinned" && c.test == " = 0";
    return !c.column.empty() && !c.negated && !notPinned;
}

Result<const Condition*> choose(Database& index, const std::vector<Condition>& conditions)
{
    const Condition* best = nullptr;
    std::int64_t fewest = 0;
    for (const Condition& c : conditions) {
        if (!canLead(c))
            continue;
        const Result<std::int64_t> count = countUpToFew(index, c);
        if (!count)
            return fail(count.error());
        // Other indexes give the calls newest first; this one has to be sorted, which pays for a few only.
        if (c.column == "duration" && *count == fewCalls)
            continue;
        if (best == nullptr || *count < fewest) {
            best = &c;
            fewest = *count;
        }
    }
    return best;
}

struct Start
{
    std::string from; // up to and with the first condition
    std::string key;
    std::vector<SqlValue> values;
};

std::optional<Start> startFromWords(const CallFilter& filter)
{
    std::string wanted;
    std::string unwanted;
    for (const Term& term : filter.terms) {
        if (term.field != Field::Word)
            continue;
        std::string& match = term.negated ? unwanted : wanted;
        const char* joint = term.negated ? " OR " : " AND ";
        match += (match.empty() ? "" : joint) + matchText(term);
    }
    if (wanted.empty() && unwanted.empty())
        return std::nullopt;
    if (wanted.empty())
        wanted = everyCall;
    const std::string match = unwanted.empty() ? wanted : "(" + wanted + ") NOT (" + unwanted + ")";
    return Start{"calls_text CROSS JOIN calls ON calls.key = calls_text.rowid WHERE calls_text MATCH ?",
        "calls_text.rowid", {match}};
}

std::optional<Start> startFromArgument(const CallFilter& filter)
{
    for (const Term& term : filter.terms)
        if (term.field == Field::Argument && !term.negated && !hasStar(term))
            return Start{"call_args lead CROSS JOIN calls ON calls.key = lead.call WHERE lead.name = ? AND "
                         "lead.value = ?",
                "lead.call", {term.name, term.text}};
    return std::nullopt;
}

} // namespace

Result<CallQuery> CallQuery::plan(Database& index, const CallFilter& filter, std::int64_t before, int limit)
{
    KeyRange range{0, before};
    std::vector<Condition> conditions;
    for (const Term& term : filter.terms) {
        const bool instant = term.field == Field::Time && (!term.negated || term.compare != Compare::Equal);
        if (instant)
            narrow(range, term);
        if (instant || term.field == Field::Word)
            continue;
        conditions.push_back(condition(term));
        conditions.back().negated = term.negated;
    }
    std::optional<Start> start = startFromWords(filter);
    if (!start)
        start = startFromArgument(filter);
    if (!start) {
        const Result<const Condition*> lead = choose(index, conditions);
        if (!lead)
            return fail(lead.error());
        // SQLite would rather walk the keys, whatever the column.
        const std::string by = *lead == nullptr ? "" : " INDEXED BY calls_" + (*lead)->column;
        start = Start{"calls" + by + " WHERE 1", "calls.key", {}};
    }
    CallQuery query;
    query.m_values = std::move(start->values);
    query.m_sql = "SELECT calls.key, calls.summary, calls.pinned, calls.comment FROM " + start->from + " AND "
        + start->key + " >= ? AND " + start->key + " < ?";
    query.m_values.emplace_back(range.from);
    query.m_values.emplace_back(range.before);
    for (const Condition& c : conditions) {
        const std::string plain = c.free.empty() ? "calls." + c.column + c.test : c.free;
        query.m_sql += c.negated ? " AND NOT (" + plain + ")" : " AND " + plain;
        query.m_values.insert(query.m_values.end(), c.values.begin(), c.values.end());
    }
    query.m_sql += " ORDER BY " + start->key + " DESC LIMIT ?";
    query.m_values.emplace_back(std::int64_t(limit));
    return query;
}

Result<Rows> CallQuery::run(Database& index) const
{
    Result<Rows> rows = index.query(m_sql);
    if (rows)
        GB_TRY(bindValues(*rows, m_values));
    return rows;
}

} // namespace gb
