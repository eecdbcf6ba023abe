// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tools.h"

#include <algorithm>
#include <set>

#include "rawjson.h"

namespace gb::rpc {
namespace {

using Kind = Parameter::Kind;

std::string toolName(const std::string& wanted, std::set<std::string>& taken)
{
    std::string name;
    for (const char c : wanted.substr(0, 56)) {
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || c == '_' || c == '-' || c == '.';
        name += good ? c : '_';
    }
    std::string free = name.empty() ? "tool" : name;
    for (int n = 2; taken.contains(free); ++n)
        free = name + "_" + std::to_string(n);
    taken.insert(free);
    return free;
}

Json inputSchema(const Function& function)
{
    Json schema = function.inputSchema.is_object() ? function.inputSchema : Json::object();
    schema["type"] = "object";
    if (!schema.contains("properties") || !schema["properties"].is_object())
        schema["properties"] = Json::object();
    for (const Parameter& parameter : function.parameters) {
        Json& properties = schema["properties"];
        if (parameter.kind == Kind::VarKeyword) {
            properties.erase(parameter.name);
            if (!schema.contains("additionalProperties") || schema["additionalProperties"] == false)
                schema["additionalProperties"] = true;
        } else if (parameter.kind == Kind::VarPositional) {
            const Json item =
                properties.contains(parameter.name) ? properties[parameter.name] : Json::object();
            if (stringOr(item, "type") != "array")
                properties[parameter.name] = Json{{"type", "array"}, {"items", item}};
        }
        if (schema.contains("required") && schema["required"].is_array()
            && (parameter.kind == Kind::VarKeyword || parameter.kind == Kind::VarPositional)) {
            Json& required = schema["required"];
            required.erase(
                std::remove(required.begin(), required.end(), Json(parameter.name)), required.end());
        }
    }
    return schema;
}

Json outputSchema(const Function& function, bool* wrapped)
{
    Json schema = function.outputSchema;
    *wrapped = false;
    if (!schema.is_object() || schema.empty() || function.generator)
        return {};
    if (stringOr(schema, "type") == "object")
        return schema;
    *wrapped = true;
    Json whole{{"type", "object"}};
    // References are written from the root, so definitions stay there.
    for (const char* key : {"$schema", "$defs"}) {
        if (schema.contains(key)) {
            whole[key] = schema[key];
            schema.erase(key);
        }
    }
    whole["properties"] = Json{{"result", schema}};
    whole["required"] = Json::array({"result"});
    return whole;
}

} // namespace

std::vector<Tool> toolsOf(std::vector<Function> functions)
{
    std::set<std::string> taken;
    std::vector<Tool> tools;
    for (Function& function : functions) {
        Tool tool;
        tool.name = toolName(function.name, taken);
        tool.description = Json{{"name", tool.name}};
        if (!function.doc.empty())
            tool.description["description"] = function.doc;
        tool.description["inputSchema"] = inputSchema(function);
        if (Json output = outputSchema(function, &tool.wrapped); output.is_object())
            tool.description["outputSchema"] = std::move(output);
        if (function.readOnly)
            tool.description["annotations"] = Json{{"readOnlyHint", true}};
        tool.function = std::move(function);
        tools.push_back(std::move(tool));
    }
    return tools;
}

Result<std::string> toolArguments(const Tool& tool, std::string_view arguments)
{
    const auto members = rawMembers(arguments);
    const auto member = [&members](const std::string& name) -> std::string_view {
        for (const auto& [key, value] : members) {
            if (key == name)
                return value;
        }
        return {};
    };
    const bool byPlace = tool.function.takes(Kind::VarPositional);
    std::set<std::string> used;
    std::string args;
    bool gap = false;
    for (const Parameter& parameter : tool.function.parameters) {
        const bool many = parameter.kind == Kind::VarPositional;
        if (!many && parameter.kind != Kind::PositionalOnly
            && !(byPlace && parameter.kind == Kind::PositionalOrKeyword))
            continue;
        const std::string_view value = member(parameter.name);
        const auto items = many ? rawMembers(value) : rawMembers({});
        if (many && !value.empty() && value.front() != '[')
            return fail("bad_arguments", parameter.name + " must be a list");
        if (value.empty()) {
            gap = true;
            continue;
        }
        // A keyword may still follow a gap; a value that only its place tells cannot.
        if (gap && parameter.kind == Kind::PositionalOrKeyword)
            continue;
        used.insert(parameter.name);
        if (gap && !(many && items.empty()))
            return fail("bad_arguments", parameter.name + " is given, but an argument before it is not");
        if (many) {
            for (const auto& item : items)
                args += (args.empty() ? "" : ",") + std::string(item.second);
        } else {
            args += (args.empty() ? "" : ",") + std::string(value);
        }
    }
    std::string kwargs;
    for (const auto& [key, value] : members) {
        if (!used.contains(key))
            kwargs += (kwargs.empty() ? "" : ",") + Json(key).dump() + ":" + std::string(value);
    }
    return "{\"args\":[" + args + "],\"kwargs\":{" + kwargs + "}}";
}

} // namespace gb::rpc
