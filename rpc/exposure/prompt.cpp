// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "prompt.h"

#include <algorithm>

#include "library.h"
#include "python.h"
#include "utf8.h"

namespace gb::rpc {
namespace {

using Kind = Parameter::Kind;

// Text as it is, without what is invisible; lines stay.
std::string visible(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const char32_t c = takeCharacter(text);
        if (c == U'\n' || c == U'\t' || !isInvisible(c))
            appendCharacter(out, c);
    }
    while (!out.empty() && (out.back() == '\n' || out.back() == ' '))
        out.pop_back();
    return out;
}

std::string oneLine(std::string_view text)
{
    std::string out;
    for (const char c : visible(text))
        out += c == '\n' || c == '\t' ? ' ' : c;
    return out;
}

std::string tickedBlock(const std::string& text, const std::string& language)
{
    std::string fence = "```";
    while (text.find(fence) != std::string::npos)
        fence += '`';
    return fence + language + "\n" + text + "\n" + fence + "\n";
}

std::string code(const std::string& text)
{
    std::string fence = "`";
    while (text.find(fence) != std::string::npos)
        fence += '`';
    const bool padded = fence.size() > 1;
    return fence + (padded ? " " : "") + text + (padded ? " " : "") + fence;
}

std::string cell(const std::string& text)
{
    std::string out;
    for (const char c : oneLine(text))
        out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

std::string argumentTable(const Function& function)
{
    if (function.parameters.empty())
        return {};
    std::string text = "| argument | type | default | meaning |\n|---|---|---|---|\n";
    for (const Parameter& p : function.parameters) {
        const char* stars = p.kind == Kind::VarPositional ? "*" : p.kind == Kind::VarKeyword ? "**" : "";
        const bool many = *stars != '\0';
        std::string shown = p.hasDefault ? oneLine(p.defaultText).substr(0, 80) : std::string();
        if (p.defaultIsJson)
            shown = pythonLiteral(p.defaultValue).value_or(shown);
        text += "| " + cell(code(stars + p.name)) + " | "
            + cell(p.annotation.empty() ? "any" : code(p.annotation)) + " | "
            + (p.hasDefault ? cell(code(shown))
                    : many  ? "none"
                            : "required")
            + " | " + cell(p.description) + " |\n";
    }
    return text + "\n";
}

// A value to show in an example, by what the schema says.
std::string exampleValue(const Json& schema)
{
    const auto choices = schema.is_object() ? schema.find("enum") : schema.end();
    if (choices != schema.end() && choices->is_array() && !choices->empty())
        return pythonLiteral(choices->front()).value_or("None");
    const std::string type = stringOr(schema, "type");
    return type == "string" ? "\"…\""
        : type == "integer" ? "1"
        : type == "number"  ? "0.5"
        : type == "boolean" ? "True"
        : type == "array"   ? "[]"
        : type == "object"  ? "{}"
                            : "…";
}

std::string example(const Function& function, const std::string& python, const std::string& prefix)
{
    const Json properties = objectOr(function.inputSchema, "properties");
    std::string arguments;
    for (const Parameter& p : function.parameters) {
        if (p.hasDefault || p.kind == Kind::VarPositional || p.kind == Kind::VarKeyword)
            continue;
        const std::string value = exampleValue(objectOr(properties, p.name));
        arguments +=
            (arguments.empty() ? "" : ", ") + (p.kind == Kind::PositionalOnly ? value : p.name + "=" + value);
    }
    const std::string call = prefix + python + "(" + arguments + ")";
    return function.generator ? "for item in " + call + ":\n    print(item)" : "result = " + call;
}

// The same as JSON: what is wanted at least.
Json exampleArguments(const Function& function)
{
    const Json properties = objectOr(function.inputSchema, "properties");
    Json arguments = Json::object();
    for (const Parameter& p : function.parameters) {
        if (p.hasDefault || p.kind == Kind::VarPositional || p.kind == Kind::VarKeyword)
            continue;
        const Json schema = objectOr(properties, p.name);
        const auto choices = schema.find("enum");
        const std::string type = stringOr(schema, "type");
        arguments[p.name] = choices != schema.end() && choices->is_array() && !choices->empty()
            ? choices->front()
            : type == "integer" ? Json(1)
            : type == "number"  ? Json(0.5)
            : type == "boolean" ? Json(true)
            : type == "array"   ? Json::array()
            : type == "object"  ? Json::object()
                                : Json("…");
    }
    return arguments;
}

// Between single quotes of a shell; in JSON such a quote can be written without one.
std::string shellJson(const Json& json)
{
    std::string out;
    for (const char c : visible(json.dump(-1, ' ', false, Json::error_handler_t::replace)))
        out += c == '\'' ? std::string("\\u0027") : std::string(1, c);
    return out;
}

std::string objectShape(const Json& schema, int depth);

std::string anyShape(const Json& schema, int depth)
{
    if (!schema.is_object() || schema.empty() || depth > 4)
        return "any";
    const auto choices = schema.find("enum");
    if (choices != schema.end() && choices->is_array() && choices->size() <= 8) {
        std::string text;
        for (const Json& choice : *choices)
            text += (text.empty() ? "" : " | ") + choice.dump();
        return text;
    }
    for (const char* key : {"anyOf", "oneOf"}) {
        const auto parts = schema.find(key);
        if (parts == schema.end() || !parts->is_array())
            continue;
        std::string text;
        for (const Json& part : *parts)
            text += (text.empty() ? "" : " | ") + anyShape(part, depth + 1);
        return text;
    }
    if (const std::string reference = stringOr(schema, "$ref"); !reference.empty())
        return reference.substr(reference.rfind('/') + 1);
    const std::string type = stringOr(schema, "type", "any");
    if (type == "array")
        return "[" + anyShape(objectOr(schema, "items"), depth + 1) + "]";
    return type == "object" ? objectShape(schema, depth) : type;
}

std::string objectShape(const Json& schema, int depth)
{
    std::string text;
    const Json properties = objectOr(schema, "properties");
    for (const auto& [key, value] : properties.items())
        text += (text.empty() ? "" : ", ") + Json(key).dump() + ": " + anyShape(value, depth + 1);
    if (const Json rest = objectOr(schema, "additionalProperties"); !rest.empty())
        text += (text.empty() ? "" : ", ") + std::string("…: ") + anyShape(rest, depth + 1);
    return text.empty() ? "object" : "{" + text + "}";
}

} // namespace

std::string shapeOf(const Json& schema)
{
    return anyShape(schema, 0);
}

std::string functionText(const Function& function, const std::string& python, const std::string& prefix)
{
    std::string text = "### " + oneLine(python) + "\n\n";
    text += tickedBlock(python + visible(function.signature), "python");
    if (const std::string doc = visible(function.doc); !doc.empty())
        text += "\n" + doc + "\n";
    text += "\n" + argumentTable(function);
    const std::string shape = shapeOf(function.outputSchema);
    const std::string what = function.generator ? "Gives one after the other: " : "Returns ";
    if (shape != "any")
        text += what + code(oneLine(shape)) + ".\n\n";
    else if (!function.returns.empty())
        text += what + code(oneLine(function.returns)) + ".\n\n";
    return text + tickedBlock(visible(example(function, python, prefix)), "python");
}

std::string callingText(const std::vector<Function>& functions, const std::string& url,
    const std::string& socket, const std::string& headerFile)
{
    std::string text =
        "\n### How to call them\n\nOne HTTP request each, with a JSON body: `fn` names the function, "
        "`kwargs` has the arguments by name (`args` those without). The file "
        + code(headerFile) + " beside this text opens the host; it need not be read or shown.\n\n";
    const Json body{{"fn", functions.empty() ? "" : functions.front().name},
        {"kwargs", functions.empty() ? Json::object() : exampleArguments(functions.front())}};
    const std::string place = socket.empty() ? url + "/" : "--unix-socket '" + socket + "' http://localhost/";
    text += tickedBlock("curl -sS -H @" + headerFile + " -H 'Content-Type: application/json' " + place
            + " -d '" + shellJson(body) + "'",
        "sh");
    return text
        + "\nThe answer is `{\"ok\": true, \"result\": …}` or `{\"ok\": false, \"error\": …, \"traceback\": "
          "…}`.\n";
}

std::string promptText(const std::string& name, const std::string& doc,
    const std::vector<Function>& functions, const std::string& prefix)
{
    std::string text = "## " + oneLine(name) + "\n\n";
    if (const std::string about = visible(doc); !about.empty())
        text += about + "\n\n";
    text += "These functions run on a Glovebox host; their state (loaded models, caches) lives there between "
            "calls.\n";
    const std::vector<LibraryName> names = libraryNames(functions);
    for (std::size_t i = 0; i < functions.size(); ++i)
        text += "\n" + functionText(functions[i], names[i].python, prefix);
    return text;
}

} // namespace gb::rpc
