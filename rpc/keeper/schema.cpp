// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "schema.h"

#include <algorithm>
#include <iterator>

#include <backend/base/hash.h>
#include <backend/base/json.h>
#include <backend/base/nearest.h>

namespace gb::rpc {
namespace {

constexpr JsonLimits schemaLimits{64, 100'000}; // one function may have an enum or a default of many keys

Json originalInputSchema(const Json& schema)
{
    Json out{{"type", "object"}, {"properties", objectOr(schema, "properties")}, {"required", Json::array()}};
    if (const auto required = schema.find("required"); required != schema.end())
        out["required"] = *required;
    if (const auto definitions = schema.find("$defs"); definitions != schema.end())
        out["$defs"] = *definitions;
    return out;
}

} // namespace

Result<std::shared_ptr<const Schema>> Schema::parse(std::string text)
{
    auto json = parseJson(text, schemaLimits);
    if (!json)
        return fail(json.error());
    const auto functions = json->find("functions");
    if (functions == json->end() || !functions->is_array())
        return fail("schema.functions", "the worker's schema lacks its functions");
    auto schema = std::make_shared<Schema>();
    Json original{{"functions", Json::array()}, {"schemas", Json::object()}};
    for (const Json& function : *functions) {
        const std::string name = stringOr(function, "name");
        if (name.empty() || schema->m_functions.contains(name))
            return fail("schema.name", "the worker's schema names a function twice or not at all");
        Function entry;
        entry.timeoutMs = static_cast<std::int64_t>(numberOr(function, "timeout") * 1000);
        entry.concurrency = static_cast<int>(integerOr(function, "concurrency", 1));
        entry.generator = boolOr(function, "generator");
        schema->m_functions.emplace(name, entry);
        schema->m_names.push_back(name);
        original["functions"].push_back(name);
        original["schemas"][name] = Json{{"description", stringOr(function, "doc")},
            {"inputSchema", originalInputSchema(objectOr(function, "input_schema"))}};
    }
    schema->m_text = std::move(text);
    schema->m_etag = "\"" + sha256Hex(schema->m_text).substr(0, 24) + "\"";
    schema->m_original = original.dump(-1, ' ', false, Json::error_handler_t::replace);
    return schema;
}

Result<std::shared_ptr<const Schema>> Schema::restrictedTo(
    const std::function<bool(std::string_view)>& may) const
{
    auto json = parseJson(m_text, schemaLimits);
    if (!json)
        return fail(json.error());
    Json kept = Json::array();
    for (Json& function : (*json)["functions"]) {
        if (may(stringOr(function, "name")))
            kept.push_back(std::move(function));
    }
    (*json)["functions"] = std::move(kept);
    return parse(json->dump(-1, ' ', false, Json::error_handler_t::replace));
}

const Schema::Function* Schema::find(std::string_view name) const
{
    const auto it = m_functions.find(name);
    return it == m_functions.end() ? nullptr : &it->second;
}

Error unknownFunction(
    const Schema& schema, std::string_view wanted, const std::function<bool(std::string_view)>& may)
{
    std::vector<std::string> names;
    std::ranges::copy_if(schema.names(), std::back_inserter(names),
        [&may](const std::string& name) { return !may || may(name); });
    // Whoever has a token for some functions looks there first.
    const char* const forWhom = names.size() < schema.names().size() ? " for this token" : "";
    return Error{
        "unknown_function", "there is no function of this name" + (forWhom + namesHint(wanted, names))};
}

} // namespace gb::rpc
