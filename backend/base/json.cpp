// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "json.h"

#ifndef GB_WITHOUT_SIMDJSON
#include "shortjson.h"
#endif

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace gb {
namespace {

// First pass over untrusted text: builds nothing, only counts, so that a hostile message is refused before
// memory or quadratic time is spent on it.
class LimitPass : public nlohmann::json_sax<Json>
{
public:
    explicit LimitPass(JsonLimits limits) : m_limits(limits) { }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return enter(); }
    bool end_object() override { return leave(); }
    bool start_array(std::size_t) override { return enter(); }
    bool end_array() override { return leave(); }

    bool key(string_t& name) override
    {
        Level& level = m_levels.back();
        if (static_cast<int>(++level.keys) > m_limits.keysPerObject)
            return refuse("json.too_many_keys",
                "an object has more than " + std::to_string(m_limits.keysPerObject) + " keys");
        if (!level.insert(name))
            return refuse(
                "json.duplicate_key", "the key \"" + name.substr(0, 100) + "\" occurs twice in an object");
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override
    {
        std::string reason = e.what();
        if (const auto colon = reason.find("]: "); colon != std::string::npos)
            reason.erase(0, colon + 2);
        m_error =
            Error{"json.syntax", "not valid JSON:" + reason.substr(0, 300), Json{{"position", position}}};
        return false;
    }

    Error error() const { return m_error; }

private:
    struct Level
    {
        std::size_t keys = 0;
        std::vector<std::string> few;
        std::unordered_set<std::string> many;

        bool insert(const std::string& name)
        {
            constexpr std::size_t linearUpTo = 16;
            if (many.empty() && few.size() < linearUpTo) {
                if (std::find(few.begin(), few.end(), name) != few.end())
                    return false;
                few.push_back(name);
                return true;
            }
            if (many.empty())
                many.insert(few.begin(), few.end());
            return many.insert(name).second;
        }
    };

    bool enter()
    {
        if (static_cast<int>(m_levels.size()) >= m_limits.depth)
            return refuse(
                "json.too_deep", "nested deeper than " + std::to_string(m_limits.depth) + " levels");
        m_levels.emplace_back();
        return true;
    }

    bool leave()
    {
        m_levels.pop_back();
        return true;
    }

    bool refuse(const char* code, std::string message)
    {
        m_error = Error{code, std::move(message)};
        return false;
    }

    JsonLimits m_limits;
    std::vector<Level> m_levels;
    Error m_error;
};

std::string typeSentence(const Json& object, std::string_view key, const char* expected)
{
    const auto it = object.is_object() ? object.find(key) : object.end();
    const std::string came = it == object.end() ? "nothing" : it->type_name();
    return "\"" + std::string(key) + "\" must be " + expected + ", got " + came;
}

} // namespace

Result<Json> parseJson(std::string_view text, JsonLimits limits)
{
#ifndef GB_WITHOUT_SIMDJSON
    if (auto json = parseJsonQuickly(text, limits))
        return std::move(*json);
#endif
    LimitPass pass(limits);
    if (!Json::sax_parse(text.begin(), text.end(), &pass))
        return fail(pass.error());
    Json json = Json::parse(text.begin(), text.end(), nullptr, false);
    if (json.is_discarded())
        return fail("json.syntax", "not valid JSON");
    return json;
}

Result<std::string> requireString(const Json& object, std::string_view key)
{
    if (object.is_object()) {
        if (const auto it = object.find(key); it != object.end() && it->is_string())
            return it->get<std::string>();
    }
    return fail("params.type", typeSentence(object, key, "a string"), Json{{"field", key}});
}

Result<std::int64_t> requireInteger(const Json& object, std::string_view key)
{
    if (object.is_object()) {
        if (const auto it = object.find(key); it != object.end() && it->is_number_integer())
            return it->get<std::int64_t>();
    }
    return fail("params.type", typeSentence(object, key, "an integer"), Json{{"field", key}});
}

std::string stringOr(const Json& object, std::string_view key, std::string fallback)
{
    if (object.is_object()) {
        if (const auto it = object.find(key); it != object.end() && it->is_string())
            return it->get<std::string>();
    }
    return fallback;
}

std::int64_t integerOr(const Json& object, std::string_view key, std::int64_t fallback)
{
    if (object.is_object()) {
        if (const auto it = object.find(key); it != object.end() && it->is_number_integer())
            return it->get<std::int64_t>();
    }
    return fallback;
}

double numberOr(const Json& object, std::string_view key, double fallback)
{
    if (object.is_object()) {
        if (const auto it = object.find(key); it != object.end() && it->is_number())
            return it->get<double>();
    }
    return fallback;
}

bool boolOr(const Json& object, std::string_view key, bool fallback)
{
    if (object.is_object()) {
        if (const auto it = object.find(key); it != object.end() && it->is_boolean())
            return it->get<bool>();
    }
    return fallback;
}

Json objectOr(const Json& object, std::string_view key)
{
    if (object.is_object()) {
        if (const auto it = object.find(key); it != object.end() && it->is_object())
            return *it;
    }
    return Json::object();
}

} // namespace gb
