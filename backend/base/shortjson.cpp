// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "shortjson.h"

#include <algorithm>
#include <unordered_set>

#include <simdjson.h>

namespace gb {
namespace {

// A parser keeps about ten bytes for each one of the largest text it has read.
constexpr std::size_t keepParserUpTo = 1U << 20U;
constexpr std::size_t quickUpTo = 16U << 20U;

class QuickBuilder
{
public:
    explicit QuickBuilder(JsonLimits limits) : m_limits(limits) { }

    // False: a limit is passed.
    bool build(simdjson::dom::element from, Json& to, int depth)
    {
        switch (from.type()) {
        case simdjson::dom::element_type::OBJECT:
            return object(from.get_object().value_unsafe(), to, depth);
        case simdjson::dom::element_type::ARRAY:
            return array(from.get_array().value_unsafe(), to, depth);
        case simdjson::dom::element_type::STRING:
            to = from.get_string().value_unsafe();
            break;
        case simdjson::dom::element_type::INT64:
            // As the long way does it: whole numbers are unsigned where they can be.
            if (const std::int64_t number = from.get_int64().value_unsafe(); number < 0)
                to = number;
            else
                to = static_cast<std::uint64_t>(number);
            break;
        case simdjson::dom::element_type::UINT64:
            to = from.get_uint64().value_unsafe();
            break;
        case simdjson::dom::element_type::DOUBLE:
            to = from.get_double().value_unsafe();
            break;
        case simdjson::dom::element_type::BOOL:
            to = from.get_bool().value_unsafe();
            break;
        case simdjson::dom::element_type::NULL_VALUE:
            to = nullptr;
            break;
        }
        return true;
    }

private:
    bool object(simdjson::dom::object from, Json& to, int depth)
    {
        if (depth >= m_limits.depth)
            return false;
        to = Json::object();
        auto& members = to.get_ref<Json::object_t&>();
        members.reserve(from.size());
        for (const auto member : from) {
            // Past the map's own look-up, which would go through all of them each time.
            members.Json::object_t::Container::emplace_back(std::string(member.key), nullptr);
            if (!build(member.value, members.back().second, depth + 1))
                return false;
        }
        return static_cast<int>(members.size()) <= m_limits.keysPerObject && allDifferent(members);
    }

    bool array(simdjson::dom::array from, Json& to, int depth)
    {
        if (depth >= m_limits.depth)
            return false;
        to = Json::array();
        auto& items = to.get_ref<Json::array_t&>();
        items.reserve(from.size());
        for (const auto item : from) {
            items.emplace_back(nullptr);
            if (!build(item, items.back(), depth + 1))
                return false;
        }
        return true;
    }

    static bool allDifferent(const Json::object_t& members)
    {
        constexpr std::size_t linearUpTo = 16;
        if (members.size() > linearUpTo) {
            std::unordered_set<std::string_view> seen;
            return std::all_of(members.begin(), members.end(),
                [&seen](const auto& member) { return seen.insert(member.first).second; });
        }
        for (auto one = members.begin(); one != members.end(); ++one) {
            if (std::any_of(
                    members.begin(), one, [one](const auto& other) { return other.first == one->first; }))
                return false;
        }
        return true;
    }

    JsonLimits m_limits;
};

} // namespace

std::optional<Json> parseJsonQuickly(std::string_view text, JsonLimits limits)
{
    if (text.size() > quickUpTo)
        return std::nullopt;
    thread_local simdjson::dom::parser kept;
    std::optional<simdjson::dom::parser> large;
    simdjson::dom::parser& parser = text.size() > keepParserUpTo ? large.emplace() : kept;
    const auto parsed = parser.parse(text.data(), text.size(), true);
    if (parsed.error() != simdjson::SUCCESS)
        return std::nullopt;
    std::optional<Json> json(std::in_place);
    if (!QuickBuilder(limits).build(parsed.value_unsafe(), *json, 0))
        return std::nullopt;
    return json;
}

} // namespace gb
