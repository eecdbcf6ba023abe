// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "specreader.h"

#include <algorithm>

#include <backend/base/nearest.h>

namespace gb {
namespace {

std::string numberText(double number)
{
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) == number ? std::to_string(whole) : Json(number).dump();
}

std::string shown(const Json& value)
{
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() > 60 ? text.substr(0, 60) + "…" : text;
}

} // namespace

std::string secondsText(std::int64_t seconds)
{
    static constexpr std::pair<const char*, std::int64_t> units[] = {
        {"d", 86'400}, {"h", 3'600}, {"min", 60}};
    const std::string text = std::to_string(seconds) + " seconds";
    for (const auto& [name, size] : units) {
        if (seconds >= size && seconds % size == 0)
            return std::to_string(seconds / size) + " " + name + " (" + text + ")";
    }
    return text;
}

SpecReader::SpecReader(const Json& object, std::string prefix, std::vector<SpecProblem>& problems)
    : m_object(object), m_prefix(std::move(prefix)), m_problems(problems)
{
    if (!m_object.is_object())
        complain(m_prefix, "must be a table, got " + shown(object), "write it as key = value pairs");
}

const Json* SpecReader::find(const char* key)
{
    m_seen.insert(key);
    if (!m_object.is_object())
        return nullptr;
    const auto it = m_object.find(key);
    return it == m_object.end() || it->is_null() ? nullptr : &*it;
}

void SpecReader::complain(const std::string& field, std::string message, std::string fix) const
{
    m_problems.push_back({field, std::move(message), std::move(fix)});
}

void SpecReader::wrongType(const char* key, const Json& came, const char* expected) const
{
    complain(path(key), "must be " + std::string(expected) + ", got " + shown(came),
        "write " + std::string(expected));
}

void SpecReader::text(const char* key, std::string& out, SpecRule rule)
{
    const Json* value = find(key);
    if (!value)
        return;
    if (!value->is_string())
        return wrongType(key, *value, "a text in quotes");
    out = value->get<std::string>();
    if (auto bad = rule(out))
        complain(path(key), bad->message, bad->fix);
}

void SpecReader::flag(const char* key, bool& out)
{
    const Json* value = find(key);
    if (!value)
        return;
    if (!value->is_boolean())
        return wrongType(key, *value, "true or false");
    out = value->get<bool>();
}

void SpecReader::whole(
    const char* key, std::int64_t& out, std::int64_t from, std::int64_t to, const char* unit)
{
    std::optional<std::int64_t> read;
    whole(key, read, from, to, unit);
    out = read.value_or(out);
}

void SpecReader::whole(
    const char* key, std::optional<std::int64_t>& out, std::int64_t from, std::int64_t to, const char* unit)
{
    const Json* value = find(key);
    if (!value)
        return;
    if (!value->is_number_integer() || (value->is_number_unsigned() && value->get<std::uint64_t>() >> 62U))
        return wrongType(key, *value, "a whole number");
    out = value->get<std::int64_t>();
    if (*out < from || *out > to)
        complain(path(key), std::to_string(*out) + " is out of range",
            "give " + std::string(unit) + " from " + std::to_string(from) + " to " + std::to_string(to));
}

void SpecReader::seconds(const char* key, std::optional<std::int64_t>& out, std::int64_t longest)
{
    const Json* value = find(key);
    if (!value)
        return;
    const std::string most = "at most " + secondsText(longest);
    if (!value->is_number_integer() || (value->is_number_unsigned() && value->get<std::uint64_t>() >> 62U))
        return complain(path(key), "must be a whole number of seconds, got " + shown(*value),
            "give a whole number of seconds, " + most);
    out = value->get<std::int64_t>();
    if (*out < 1)
        complain(path(key), secondsText(*out) + " is too short", "give 1 or more seconds");
    else if (*out > longest)
        complain(path(key), secondsText(*out) + " is too long", "give " + most);
}

void SpecReader::seconds(const char* key, std::int64_t& out, std::int64_t longest)
{
    std::optional<std::int64_t> read;
    seconds(key, read, longest);
    out = read.value_or(out);
}

void SpecReader::port(const char* key, std::optional<int>& out)
{
    constexpr int highest = 65535;
    std::optional<std::int64_t> read;
    whole(key, read, 1, highest, "a port");
    if (read)
        out = static_cast<int>(std::clamp<std::int64_t>(*read, 0, highest));
}

void SpecReader::number(const char* key, double& out, double from, double to, const char* unit)
{
    const Json* value = find(key);
    if (!value)
        return;
    if (!value->is_number())
        return wrongType(key, *value, "a number");
    out = value->get<double>();
    if (!(out >= from && out <= to))
        complain(path(key), shown(*value) + " is out of range",
            "give " + std::string(unit) + " from " + numberText(from) + " to " + numberText(to));
}

void SpecReader::bytes(const char* key, std::int64_t& out, std::int64_t atLeast)
{
    const Json* value = find(key);
    if (!value)
        return;
    Result<std::int64_t> read = fail("spec.bytes", "not a size");
    if (value->is_number_integer())
        read = value->get<std::int64_t>();
    else if (value->is_string())
        read = parseBytes(value->get<std::string>());
    if (!read)
        return complain(path(key), shown(*value) + " is not a size", "write it like \"8 GiB\" or \"512MB\"");
    out = *read;
    if (out < 0 || (out > 0 && out < atLeast))
        complain(path(key), shown(*value) + " is too small",
            "give at least " + std::to_string(atLeast >> 20) + " MiB, or leave it out for no limit");
}

void SpecReader::texts(const char* key, std::vector<std::string>& out, SpecRule rule)
{
    const Json* value = find(key);
    if (!value)
        return;
    out.clear();
    each(key, [&](const Json& item, const std::string& where) {
        if (!item.is_string())
            return complain(where, "must be a text in quotes, got " + shown(item), "put it in quotes");
        const auto text = item.get<std::string>();
        if (auto bad = rule(text))
            complain(where, bad->message, bad->fix);
        if (std::find(out.begin(), out.end(), text) != out.end())
            return complain(where, "\"" + text + "\" stands in the list twice", "remove one of them");
        out.push_back(text);
    });
}

void SpecReader::textMap(const char* key, std::map<std::string, std::string>& out, SpecRule keyRule)
{
    const Json* value = find(key);
    if (!value)
        return;
    if (!value->is_object())
        return wrongType(key, *value, "a table of NAME = \"value\"");
    out.clear();
    for (const auto& [name, item] : value->items()) {
        const std::string where = path(key) + "." + name;
        if (auto bad = keyRule(name))
            complain(where, bad->message, bad->fix);
        if (!item.is_string()) {
            complain(where, "must be a text in quotes, got " + shown(item), "put the value in quotes");
            continue;
        }
        out[name] = item.get<std::string>();
        if (auto bad = rules::plainText(out[name]))
            complain(where, bad->message, bad->fix);
    }
}

void SpecReader::each(const char* key, const std::function<void(const Json&, const std::string&)>& read)
{
    const Json* value = find(key);
    if (!value)
        return;
    if (!value->is_array())
        return wrongType(key, *value, "a list in brackets");
    for (std::size_t i = 0; i < value->size(); ++i)
        read((*value)[i], path(key) + "[" + std::to_string(i) + "]");
}

Json SpecReader::leftOver(const std::vector<SpecField>& known)
{
    Json rest = Json::object();
    if (!m_object.is_object())
        return rest;
    std::vector<std::string> names;
    for (const SpecField& field : known)
        names.emplace_back(field.name);
    for (const auto& [name, value] : m_object.items()) {
        if (m_seen.contains(name))
            continue;
        rest[name] = value;
        const std::string nearest = nearestName(name, names);
        m_problems.push_back({path(name), "is not a field of this version",
            nearest.empty() ? "remove it, or leave it: it is kept" : "did you mean " + nearest + "?",
            SpecProblem::Severity::Warning});
    }
    return rest;
}

} // namespace gb
