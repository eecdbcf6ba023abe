// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callfilter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include <simdjson.h>

#include "jsontext.h"

namespace gb {
namespace {

using Term = CallFilter::Term;
using Field = CallFilter::Field;
using Compare = CallFilter::Compare;

constexpr std::size_t longestFilter = 4096;
constexpr std::size_t mostTerms = 64;

tl::unexpected<Error> failValue(std::string_view key, std::string_view value, std::string_view wanted)
{
    return fail("filter.value",
        std::string(key) + ": does not understand \"" + std::string(cutText(value, 80)) + "\"; it takes "
            + std::string(wanted),
        Json{{"key", key}, {"value", cutText(value, 80)}});
}

struct Word
{
    bool negated = false;
    std::string key; // empty: a free word
    std::string value; // without its quotes
    bool quoted = false;
};

bool isSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool isKeyLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'
        || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t keyLength(std::string_view text)
{
    std::size_t length = 0;
    while (length < text.size() && isKeyLetter(text[length]))
        ++length;
    const bool key = length > 0 && length < text.size() && text[length] == ':';
    // http://… and 10:30 are words, not keys.
    if (!key || text.substr(length + 1, 2) == "//" || (text[0] >= '0' && text[0] <= '9'))
        return 0;
    return length;
}

Result<std::string> takeValue(std::string_view& rest, bool& quoted)
{
    std::string value;
    quoted = !rest.empty() && rest.front() == '"';
    if (!quoted) {
        const auto end = std::find_if(rest.begin(), rest.end(), isSpace);
        value.assign(rest.begin(), end);
        rest.remove_prefix(value.size());
        return value;
    }
    for (rest.remove_prefix(1); !rest.empty(); rest.remove_prefix(1)) {
        if (rest.front() == '"') {
            rest.remove_prefix(1);
            return value;
        }
        if (rest.front() == '\\' && rest.size() > 1)
            rest.remove_prefix(1);
        value += rest.front();
    }
    return fail("filter.quote", "a quote is not closed");
}

Result<Word> takeWord(std::string_view& rest)
{
    Word word;
    if (rest.size() > 1 && rest.front() == '-' && !isSpace(rest[1])) {
        word.negated = true;
        rest.remove_prefix(1);
    }
    if (const std::size_t length = keyLength(rest); length > 0) {
        word.key = rest.substr(0, length);
        rest.remove_prefix(length + 1);
    }
    Result<std::string> value = takeValue(rest, word.quoted);
    if (!value)
        return fail(value.error());
    word.value = std::move(*value);
    return word;
}

Compare takeCompare(std::string_view& value)
{
    constexpr std::pair<std::string_view, Compare> signs[] = {{">=", Compare::GreaterOrEqual},
        {"<=", Compare::LessOrEqual}, {">", Compare::Greater}, {"<", Compare::Less}, {"=", Compare::Equal}};
    for (const auto& [sign, compare] : signs) {
        if (value.substr(0, sign.size()) == sign) {
            value.remove_prefix(sign.size());
            return compare;
        }
    }
    return Compare::Equal;
}

Status parseDuration(Term& term, std::string_view value)
{
    constexpr std::string_view wanted = "something like >500ms, <=2s or >1.5m (ns us ms s m h)";
    const std::string_view whole = value;
    term.compare = takeCompare(value);
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || !(number >= 0))
        return failValue("dur", whole, wanted);
    const std::string_view unit = value.substr(std::size_t(end - value.data()));
    constexpr std::pair<std::string_view, double> units[] = {
        {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    for (const auto& [name, factor] : units) {
        if (unit == name && number * factor < 9e18) {
            term.number = static_cast<std::int64_t>(number * factor);
            return {};
        }
    }
    return failValue("dur", whole, wanted);
}

bool takeNumber(std::string_view& text, std::size_t digits, int& number)
{
    if (text.size() < digits || text.front() < '0' || text.front() > '9')
        return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
    if (error != std::errc() || end != text.data() + digits)
        return false;
    text.remove_prefix(digits);
    return true;
}

bool takeSign(std::string_view& text, char sign)
{
    if (text.empty() || text.front() != sign)
        return false;
    text.remove_prefix(1);
    return true;
}

// 2026-01-31, 2026-01-31T12:34, 2026-01-31T12:34:56, with or without Z.
Status parseTime(Term& term, std::string_view value)
{
    constexpr std::string_view wanted = "a day or time (UTC) like >2026-01-31 or <=2026-01-31T12:30";
    const std::string_view whole = value;
    term.compare = takeCompare(value);
    int year = 0;
    int month = 0;
    int day = 0;
    if (!takeNumber(value, 4, year) || !takeSign(value, '-') || !takeNumber(value, 2, month)
        || !takeSign(value, '-') || !takeNumber(value, 2, day))
        return failValue("at", whole, wanted);
    const std::chrono::year_month_day date{
        std::chrono::year(year), std::chrono::month(unsigned(month)), std::chrono::day(unsigned(day))};
    if (!date.ok())
        return failValue("at", whole, wanted);
    std::int64_t seconds = std::int64_t(std::chrono::sys_days(date).time_since_epoch().count()) * 86400;
    std::int64_t length = 86400;
    if (takeSign(value, 'T')) {
        int hour = 0;
        int minute = 0;
        int second = 0;
        if (!takeNumber(value, 2, hour) || !takeSign(value, ':') || !takeNumber(value, 2, minute))
            return failValue("at", whole, wanted);
        const bool exact = takeSign(value, ':');
        if ((exact && !takeNumber(value, 2, second)) || hour > 23 || minute > 59 || second > 60)
            return failValue("at", whole, wanted);
        seconds += hour * 3600 + minute * 60 + second;
        length = exact ? 1 : 60;
    }
    takeSign(value, 'Z');
    if (!value.empty())
        return failValue("at", whole, wanted);
    term.number = seconds * 1000;
    term.end = (seconds + length) * 1000;
    return {};
}

Status parsePinned(Term& term, std::string_view value)
{
    if (value != "yes" && value != "no")
        return failValue("pinned", value, "yes or no");
    term.number = value == "yes" ? 1 : 0;
    return {};
}

Status parseState(std::string_view value)
{
    constexpr std::array<std::string_view, 5> states{"ok", "error", "cancelled", "killed", "lost"};
    if (std::find(states.begin(), states.end(), value) == states.end())
        return failValue("status", value, "ok, error, cancelled, killed or lost");
    return {};
}

Status parseKeyed(Term& term, const std::string& key, const std::string& value)
{
    constexpr std::pair<std::string_view, Field> fields[] = {{"fn", Field::Function},
        {"status", Field::State}, {"by", Field::Caller}, {"interface", Field::Interface}, {"run", Field::Run},
        {"dur", Field::Duration}, {"at", Field::Time}, {"pinned", Field::Pinned}};
    if (key.rfind("arg.", 0) == 0 && key.size() > 4) {
        term.field = Field::Argument;
        term.name = key.substr(4);
        return {};
    }
    const auto found = std::find_if(
        std::begin(fields), std::end(fields), [&](const auto& field) { return field.first == key; });
    if (found == std::end(fields))
        return fail("filter.unknown_key",
            "there is no \"" + std::string(cutText(key, 40))
                + ":\" to filter by (fn status by interface run dur at pinned arg.NAME); put quotes around "
                  "it "
                  "to look for the text",
            Json{{"key", std::string(cutText(key, 40))}});
    term.field = found->second;
    if (value.empty())
        return failValue(key, value, "a value right after the colon");
    switch (term.field) {
    case Field::State:
        return parseState(value);
    case Field::Duration:
        return parseDuration(term, value);
    case Field::Time:
        return parseTime(term, value);
    case Field::Pinned:
        return parsePinned(term, value);
    default:
        return {};
    }
}

// A word of punctuation only holds nothing that the full-text index knows.
bool hasLetters(std::string_view text)
{
    return std::any_of(
        text.begin(), text.end(), [](char c) { return c != '.' && isKeyLetter(c) && c != '_'; });
}

} // namespace

Result<CallFilter> CallFilter::parse(std::string_view text)
{
    if (text.size() > longestFilter)
        return fail("filter.too_long", "a filter has at most 4096 characters");
    if (text.find('\0') != std::string_view::npos || !simdjson::validate_utf8(text.data(), text.size()))
        return fail("filter.value", "a filter is UTF-8 text without NUL characters");
    CallFilter filter;
    for (;;) {
        while (!text.empty() && isSpace(text.front()))
            text.remove_prefix(1);
        if (text.empty())
            return filter;
        const Result<Word> word = takeWord(text);
        if (!word)
            return fail(word.error());
        Term term;
        term.negated = word->negated;
        term.text = word->value;
        if (!word->key.empty()) {
            GB_TRY(parseKeyed(term, word->key, word->value));
        } else {
            term.prefix = !word->quoted && !term.text.empty() && term.text.back() == '*';
            if (term.prefix)
                term.text.pop_back();
            if (!hasLetters(term.text))
                continue;
        }
        filter.terms.push_back(std::move(term));
        if (filter.terms.size() > mostTerms)
            return fail("filter.too_long", "a filter has at most 64 parts");
    }
}

void CallFilter::add(Field field, std::string text)
{
    Term term;
    term.field = field;
    term.text = std::move(text);
    terms.push_back(std::move(term));
}

} // namespace gb
