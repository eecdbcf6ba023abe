// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "schema.h"

#include <algorithm>

namespace gb::ui {
namespace {

constexpr int referenceSteps = 8;

Json resolved(Json schema, const Json& root)
{
    for (int step = 0; step < referenceSteps; ++step) {
        const auto ref = stringOr(schema, "$ref");
        if (!schema.is_object() || ref.empty())
            return schema;
        if (!ref.starts_with("#/"))
            return Json::object();
        const Json* at = &root;
        std::size_t from = 2;
        while (at && from <= ref.size()) {
            const auto end = std::min(ref.find('/', from), ref.size());
            const auto name = ref.substr(from, end - from);
            const auto next = at->is_object() ? at->find(name) : at->end();
            at = at->is_object() && next != at->end() ? &*next : nullptr;
            from = end + 1;
        }
        if (!at)
            return Json::object();
        schema = Json(*at);
    }
    return Json::object();
}

SchemaNode::Kind kindOfType(const std::string& type)
{
    using Kind = SchemaNode::Kind;
    if (type == "string")
        return Kind::Text;
    if (type == "integer")
        return Kind::Integer;
    if (type == "number")
        return Kind::Number;
    if (type == "boolean")
        return Kind::Boolean;
    if (type == "null")
        return Kind::Null;
    if (type == "array")
        return Kind::List;
    if (type == "object")
        return Kind::Object;
    return Kind::Any;
}

} // namespace

SchemaNode readSchema(const Json& schema, const Json& root)
{
    SchemaNode node;
    node.json = resolved(schema, root);
    if (!node.json.is_object()) {
        node.json = Json::object();
        return node;
    }
    const auto& json = node.json;
    if (const auto choices = json.find("enum");
        choices != json.end() && choices->is_array() && !choices->empty()) {
        node.kind = SchemaNode::Kind::Choice;
        node.choices.assign(choices->begin(), choices->end());
        return node;
    }
    if (const auto constant = json.find("const"); constant != json.end()) {
        node.kind = SchemaNode::Kind::Choice;
        node.choices = {*constant};
        return node;
    }
    for (const auto* word : {"anyOf", "oneOf"}) {
        const auto members = json.find(word);
        if (members == json.end() || !members->is_array())
            continue;
        for (const auto& member : *members)
            if (member.is_object())
                node.choices.push_back(member);
        if (!node.choices.empty())
            node.kind = SchemaNode::Kind::Union;
        return node;
    }
    const auto type = json.find("type");
    if (type != json.end() && type->is_array() && !type->empty()) {
        node.kind = SchemaNode::Kind::Union;
        for (const auto& name : *type) {
            Json member = json;
            member["type"] = name;
            member.erase("default");
            node.choices.push_back(std::move(member));
        }
        return node;
    }
    node.kind = kindOfType(stringOr(json, "type"));
    // An object of unknown fields has nothing to draw.
    if (node.kind == SchemaNode::Kind::Object && objectOr(json, "properties").empty())
        node.kind = SchemaNode::Kind::Any;
    return node;
}

std::string schemaName(const Json& schema, const Json& root, int depth)
{
    using Kind = SchemaNode::Kind;
    if (depth > 3)
        return "…";
    const auto node = readSchema(schema, root);
    switch (node.kind) {
    case Kind::Text:
        return "text";
    case Kind::Integer:
        return "integer";
    case Kind::Number:
        return "number";
    case Kind::Boolean:
        return "yes or no";
    case Kind::Null:
        return "null";
    case Kind::Choice:
        return "choice";
    case Kind::List:
        return "list of " + schemaName(objectOr(node.json, "items"), root, depth + 1);
    case Kind::Object:
        return "object";
    case Kind::Union: {
        std::string text;
        for (const auto& choice : node.choices)
            text += (text.empty() ? "" : " or ") + schemaName(choice, root, depth + 1);
        return text;
    }
    case Kind::Any:
        return "JSON";
    }
    return "JSON";
}

Json initialValue(const Json& schema, const Json& root)
{
    using Kind = SchemaNode::Kind;
    const auto node = readSchema(schema, root);
    if (const auto fallback = node.json.find("default"); fallback != node.json.end())
        return *fallback;
    switch (node.kind) {
    case Kind::Text:
        return "";
    case Kind::Integer:
        return 0;
    case Kind::Number:
        return 0.0;
    case Kind::Boolean:
        return false;
    case Kind::Choice:
        return node.choices.front();
    case Kind::List:
        return Json::array();
    case Kind::Object: {
        Json value = Json::object();
        const auto properties = objectOr(node.json, "properties");
        const auto required = node.json.find("required");
        if (required != node.json.end() && required->is_array())
            for (const auto& name : *required)
                if (name.is_string() && properties.contains(name.get<std::string>()))
                    value[name.get<std::string>()] =
                        initialValue(properties.at(name.get<std::string>()), Json::object());
        return value;
    }
    case Kind::Union:
        return initialValue(node.choices.front(), root);
    default:
        return nullptr;
    }
}

bool fitsSchema(const Json& value, const Json& schema, const Json& root)
{
    using Kind = SchemaNode::Kind;
    const auto node = readSchema(schema, root);
    switch (node.kind) {
    case Kind::Text:
        return value.is_string();
    case Kind::Integer:
        return value.is_number_integer();
    case Kind::Number:
        return value.is_number();
    case Kind::Boolean:
        return value.is_boolean();
    case Kind::Null:
        return value.is_null();
    case Kind::Choice:
        return std::ranges::find(node.choices, value) != node.choices.end();
    case Kind::List: {
        const auto items = objectOr(node.json, "items");
        return value.is_array() && (value.empty() || items.empty() || fitsSchema(value.front(), items, root));
    }
    case Kind::Object:
        return value.is_object();
    case Kind::Union:
        return std::ranges::any_of(
            node.choices, [&](const Json& choice) { return fitsSchema(value, choice, root); });
    case Kind::Any:
        return true;
    }
    return true;
}

} // namespace gb::ui
