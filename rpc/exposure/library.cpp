// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "library.h"

#include <algorithm>
#include <set>

#include "python.h"

namespace gb::rpc {
namespace {

using Kind = Parameter::Kind;

struct Argument
{
    const Parameter* parameter;
    std::string python;
    std::optional<std::string> literal; // of a default that Python can write down
};

std::vector<Argument> argumentsOf(const Function& function)
{
    std::set<std::string> taken{"_gb_call", "_gb_stream"};
    std::vector<Argument> arguments;
    for (const Parameter& parameter : function.parameters) {
        Argument argument{&parameter, freePythonName(parameter.name, taken), std::nullopt};
        if (parameter.hasDefault && parameter.defaultIsJson)
            argument.literal = pythonLiteral(parameter.defaultValue);
        arguments.push_back(std::move(argument));
    }
    return arguments;
}

std::string declaration(const Argument& argument)
{
    const Parameter& parameter = *argument.parameter;
    std::string text = parameter.kind == Kind::VarPositional ? "*"
        : parameter.kind == Kind::VarKeyword                 ? "**"
                                                             : "";
    text += argument.python;
    const bool typed = !parameter.annotation.empty();
    if (typed)
        text += ": " + pythonAnnotation(parameter.annotation);
    // `...` is no JSON value, so it can stand for a default that only the host knows.
    if (parameter.hasDefault)
        text += (typed ? " = " : "=") + argument.literal.value_or("...");
    return text;
}

std::vector<std::string> declarations(const std::vector<Argument>& arguments)
{
    std::vector<std::string> parts;
    bool starred = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Kind kind = arguments[i].parameter->kind;
        starred = starred || kind == Kind::VarPositional;
        if (kind == Kind::KeywordOnly && !starred) {
            parts.emplace_back("*");
            starred = true;
        }
        parts.push_back(declaration(arguments[i]));
        const bool lastOfItsKind = i + 1 == arguments.size() || arguments[i + 1].parameter->kind != kind;
        if (kind == Kind::PositionalOnly && lastOfItsKind)
            parts.emplace_back("/");
    }
    return parts;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between)
{
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : std::string(between)) + part;
    return text;
}

std::string call(const Function& function, const std::vector<Argument>& arguments)
{
    // Names are kinder in the record, but what comes before *args has to be given by place.
    const bool byPlace = function.takes(Kind::VarPositional);
    std::vector<std::string> placed;
    std::vector<std::string> named;
    for (const Argument& argument : arguments) {
        switch (argument.parameter->kind) {
        case Kind::PositionalOrKeyword:
            if (!byPlace) {
                named.push_back(pythonString(argument.parameter->name) + ": " + argument.python);
                break;
            }
            [[fallthrough]];
        case Kind::PositionalOnly:
            placed.push_back(argument.python);
            break;
        case Kind::VarPositional:
            placed.push_back("*" + argument.python);
            break;
        case Kind::KeywordOnly:
            named.push_back(pythonString(argument.parameter->name) + ": " + argument.python);
            break;
        case Kind::VarKeyword:
            named.push_back("**" + argument.python);
            break;
        }
    }
    return std::string(function.generator ? "_gb_stream(" : "_gb_call(") + pythonString(function.name) + ", ("
        + joined(placed, ", ") + (placed.size() == 1 ? ",), {" : "), {") + joined(named, ", ") + "})";
}

std::string docstring(
    const Function& function, const std::string& python, const std::vector<Argument>& arguments)
{
    std::string text = function.doc;
    std::string notes;
    for (const Argument& argument : arguments) {
        if (argument.parameter->hasDefault && !argument.literal)
            notes +=
                "\n" + argument.python + ": without it, " + argument.parameter->defaultText + " is used.";
    }
    if (python != function.name)
        notes += "\nOn the host this function is called " + function.name + ".";
    if (!notes.empty())
        text += (text.empty() ? "" : "\n") + notes;
    if (!text.empty() && text.front() == '\n')
        text.erase(0, 1);
    return text;
}

std::string definition(const Function& function, const std::string& python)
{
    const std::vector<Argument> arguments = argumentsOf(function);
    const std::vector<std::string> parts = declarations(arguments);
    std::string returns;
    if (!function.returns.empty())
        returns = " -> " + pythonAnnotation(function.returns);
    std::string text = "def " + python + "(" + joined(parts, ", ") + ")" + returns + ":\n";
    if (text.size() > 110 && !parts.empty())
        text = "def " + python + "(\n    " + joined(parts, ",\n    ") + "\n)" + returns + ":\n";
    const std::string doc = docstring(function, python, arguments);
    if (!doc.empty())
        text += "    " + pythonDocstring(doc, "    ") + "\n";
    return text + "    return " + call(function, arguments) + "\n";
}

} // namespace

std::vector<LibraryName> libraryNames(const std::vector<Function>& functions)
{
    std::set<std::string> taken{"Array", "CallCancelled", "CallTimeout", "HostUnreachable", "Image",
        "RemoteError", "_gb_call", "_gb_runtime", "_gb_stream", "_gb_values", "settings"};
    std::vector<LibraryName> names;
    // Those that can keep their name get it before any other may take it.
    std::set<std::string> kept;
    for (const Function& function : functions) {
        if (isPythonName(function.name) && !taken.contains(function.name))
            kept.insert(function.name);
    }
    for (const Function& function : functions) {
        std::set<std::string> others = taken;
        others.insert(kept.begin(), kept.end());
        if (kept.erase(function.name) > 0)
            others.erase(function.name);
        names.push_back({function.name, freePythonName(function.name, others)});
        taken.insert(names.back().python);
    }
    return names;
}

std::string libraryModule(const std::string& wanted)
{
    std::set<std::string> taken;
    std::string name;
    for (const char c : wanted)
        name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    return freePythonName(name.empty() ? "interface" : name, taken);
}

std::string libraryText(
    const std::string& name, const std::string& doc, const std::vector<Function>& functions)
{
    std::string about = doc.empty() ? "Functions of the interface " + name + "." : doc;
    while (!about.empty() && (about.back() == '\n' || about.back() == ' '))
        about.pop_back();
    about += "\n\nMade by Glovebox from the interface " + name
        + ". The functions run on its host.\n"
          "They raise RemoteError when they fail there; `settings.timeout` is in seconds.";
    std::string text = pythonDocstring(about, "") + "\n";
    text += libraryRuntime();
    const std::vector<LibraryName> names = libraryNames(functions);
    for (std::size_t i = 0; i < functions.size(); ++i)
        text += "\n\n" + definition(functions[i], names[i].python);
    return text;
}

} // namespace gb::rpc
