// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "function.h"

#include <algorithm>
#include <utility>

#include <backend/base/nearest.h>

namespace gb::rpc {
namespace {

Parameter::Kind kindOf(const std::string& text)
{
    static constexpr std::pair<std::string_view, Parameter::Kind> kinds[] = {
        {"positional_only", Parameter::Kind::PositionalOnly},
        {"var_positional", Parameter::Kind::VarPositional}, {"keyword_only", Parameter::Kind::KeywordOnly},
        {"var_keyword", Parameter::Kind::VarKeyword}};
    for (const auto& [name, kind] : kinds) {
        if (name == text)
            return kind;
    }
    return Parameter::Kind::PositionalOrKeyword;
}

Parameter readParameter(const Json& json)
{
    Parameter parameter;
    parameter.name = stringOr(json, "name");
    parameter.kind = kindOf(stringOr(json, "kind"));
    parameter.annotation = stringOr(json, "annotation");
    parameter.description = stringOr(json, "description");
    parameter.hasDefault = boolOr(json, "has_default");
    parameter.defaultIsJson = boolOr(json, "default_is_json") && json.contains("default");
    if (parameter.defaultIsJson)
        parameter.defaultValue = json["default"];
    parameter.defaultText = stringOr(json, "default_repr");
    return parameter;
}

bool isMany(Parameter::Kind kind)
{
    return kind == Parameter::Kind::VarPositional || kind == Parameter::Kind::VarKeyword;
}

void putInOrder(std::vector<Parameter>& parameters)
{
    std::stable_sort(parameters.begin(), parameters.end(),
        [](const Parameter& a, const Parameter& b) { return a.kind < b.kind; });
    const auto repeated = std::unique(parameters.begin(), parameters.end(),
        [](const Parameter& a, const Parameter& b) { return a.kind == b.kind && isMany(a.kind); });
    parameters.erase(repeated, parameters.end());
    bool optional = false;
    for (Parameter& parameter : parameters) {
        if (isMany(parameter.kind)) {
            parameter.hasDefault = false;
        } else if (parameter.kind != Parameter::Kind::KeywordOnly) {
            optional = optional || parameter.hasDefault;
            parameter.hasDefault = optional;
        }
    }
}

std::string returnsOf(const std::string& signature)
{
    const auto arrow = signature.rfind(") -> ");
    return arrow == std::string::npos ? std::string() : signature.substr(arrow + 5);
}

Function readFunction(const Json& json)
{
    Function function;
    function.name = stringOr(json, "name");
    function.doc = stringOr(json, "doc");
    function.summary = stringOr(json, "summary");
    function.signature = stringOr(json, "signature");
    function.returns = returnsOf(function.signature);
    function.generator = boolOr(json, "generator");
    function.readOnly = boolOr(json, "read_only");
    function.inputSchema = objectOr(json, "input_schema");
    function.outputSchema = objectOr(json, "output_schema");
    const auto parameters = json.find("parameters");
    if (parameters != json.end() && parameters->is_array()) {
        for (const Json& parameter : *parameters) {
            if (parameter.is_object())
                function.parameters.push_back(readParameter(parameter));
        }
    }
    putInOrder(function.parameters);
    return function;
}

std::vector<std::string> namesIn(const Json& functions)
{
    std::vector<std::string> names;
    for (const Json& item : functions)
        names.push_back(stringOr(item, "name"));
    return names;
}

} // namespace

bool Function::takes(Parameter::Kind kind) const
{
    return std::any_of(parameters.begin(), parameters.end(),
        [kind](const Parameter& parameter) { return parameter.kind == kind; });
}

Result<std::vector<Function>> functionsOf(const Json& schema, const std::vector<std::string>& only)
{
    std::vector<Function> functions;
    const auto list = schema.is_object() ? schema.find("functions") : schema.end();
    if (!schema.is_object() || list == schema.end() || !list->is_array())
        return fail("expose.schema", "the schema has no list of functions");
    for (const Json& item : *list) {
        if (!item.is_object() || stringOr(item, "name").empty())
            return fail("expose.schema", "the schema has a function without a name");
        const std::string name = stringOr(item, "name");
        if (only.empty() || std::find(only.begin(), only.end(), name) != only.end())
            functions.push_back(readFunction(item));
    }
    for (const std::string& name : only) {
        if (std::none_of(
                functions.begin(), functions.end(), [&name](const Function& f) { return f.name == name; }))
            return fail("expose.unknown_function",
                "the interface has no function " + name + namesHint(name, namesIn(*list)),
                Json{{"function", name}});
    }
    return functions;
}

} // namespace gb::rpc
