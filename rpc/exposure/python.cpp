// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "python.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "utf8.h"

namespace gb::rpc {
namespace {

// Older Pythons give up on deeply nested literals, and nobody reads a default of pages.
constexpr int deepestLiteral = 12;
constexpr std::size_t longestLiteral = 4096;
constexpr std::size_t longestAnnotation = 400;

constexpr std::string_view keywords[] = {"False", "None", "True", "__debug__", "and", "as", "assert", "async",
    "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
    "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield"};

bool isKeyword(std::string_view text)
{
    return std::find(std::begin(keywords), std::end(keywords), text) != std::end(keywords);
}

void appendEscape(std::string& out, char32_t character)
{
    char buffer[12];
    const auto code = static_cast<unsigned>(character);
    std::snprintf(buffer, sizeof buffer,
        code < 0x100         ? "\\x%02x"
            : code < 0x10000 ? "\\u%04x"
                             : "\\U%08x",
        code);
    out += buffer;
}

void appendQuoted(std::string& out, char32_t character, char quote)
{
    if (character == U'\\' || character == static_cast<char32_t>(quote)) {
        out += '\\';
        out += static_cast<char>(character);
    } else if (character == U'\n') {
        out += "\\n";
    } else if (character == U'\r') {
        out += "\\r";
    } else if (character == U'\t') {
        out += "\\t";
    } else if (isInvisible(character)) {
        appendEscape(out, character);
    } else {
        appendCharacter(out, character);
    }
}

bool appendLiteral(std::string& out, const Json& value, int depth)
{
    if (depth > deepestLiteral || out.size() > longestLiteral)
        return false;
    switch (value.type()) {
    case Json::value_t::null:
        out += "None";
        return true;
    case Json::value_t::boolean:
        out += value.get<bool>() ? "True" : "False";
        return true;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
        out += value.dump();
        return true;
    case Json::value_t::number_float:
        if (!std::isfinite(value.get<double>()))
            return false;
        out += value.dump();
        return true;
    case Json::value_t::string:
        out += pythonString(value.get_ref<const std::string&>());
        return out.size() <= longestLiteral;
    case Json::value_t::array:
    case Json::value_t::object: {
        out += value.is_array() ? '[' : '{';
        bool first = true;
        for (const auto& [key, item] : value.items()) {
            out += first ? "" : ", ";
            first = false;
            if (value.is_object())
                out += pythonString(key) + ": ";
            if (!appendLiteral(out, item, depth + 1))
                return false;
        }
        out += value.is_array() ? ']' : '}';
        return true;
    }
    default:
        return false;
    }
}

// Reads `name`, `name[a, b]`, `a | b`, `...` and what a Literal lists, where every name is a built-in type or
// one of typing's. Nothing of it is evaluated: a library's annotations are text to Python.
class AnnotationReader
{
public:
    explicit AnnotationReader(std::string_view text) : m_rest(text) { }

    std::optional<std::string> read()
    {
        if (!alternatives(0))
            return std::nullopt;
        skipSpace();
        return m_rest.empty() ? std::optional(m_out) : std::nullopt;
    }

private:
    void skipSpace() { m_rest.remove_prefix(std::min(m_rest.find_first_not_of(' '), m_rest.size())); }

    bool take(std::string_view token)
    {
        skipSpace();
        if (!m_rest.starts_with(token))
            return false;
        m_rest.remove_prefix(token.size());
        return true;
    }

    bool alternatives(int depth)
    {
        if (depth > 8 || !type(depth))
            return false;
        while (take("|")) {
            m_out += " | ";
            if (!type(depth))
                return false;
        }
        return true;
    }

    bool type(int depth)
    {
        static constexpr std::string_view known[] = {"None", "bool", "bytes", "dict", "float", "frozenset",
            "int", "list", "object", "set", "str", "tuple", "Any", "AsyncIterator", "Callable", "Dict",
            "FrozenSet", "Generator", "Iterable", "Iterator", "List", "Literal", "Mapping", "Optional",
            "Sequence", "Set", "Tuple", "Union"};
        skipSpace();
        const auto end = std::ranges::find_if_not(
            m_rest, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
        const std::string_view name(m_rest.begin(), end);
        if (std::ranges::find(known, name) == std::end(known))
            return false;
        m_rest.remove_prefix(name.size());
        m_out += name;
        return !take("[") || arguments(depth + 1, name == "Literal");
    }

    // A number, or a short word in quotes.
    bool choice()
    {
        skipSpace();
        const auto length = [this](std::string_view allowed, std::size_t from) {
            return std::min(m_rest.find_first_not_of(allowed, from), m_rest.size());
        };
        constexpr std::string_view letters =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. /+";
        const bool quoted = !m_rest.empty() && (m_rest.front() == '\'' || m_rest.front() == '"');
        std::size_t size = length(quoted ? letters : letters.substr(52, 10), quoted ? 1 : 0);
        if (quoted) {
            if (size == m_rest.size() || m_rest[size] != m_rest.front())
                return false;
            ++size;
        }
        if (size == 0 || size > 60 || (!quoted && size > 1 && m_rest.front() == '0'))
            return false;
        m_out += m_rest.substr(0, size);
        m_rest.remove_prefix(size);
        return true;
    }

    bool arguments(int depth, bool isLiteral)
    {
        m_out += '[';
        do {
            if (m_out.back() != '[')
                m_out += ", ";
            if (take("..."))
                m_out += "...";
            else if (isLiteral ? !choice() : !alternatives(depth))
                return false;
        } while (take(","));
        m_out += ']';
        return take("]");
    }

    std::string_view m_rest;
    std::string m_out;
};

} // namespace

std::string pythonString(std::string_view text)
{
    const char quote =
        text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
    std::string out(1, quote);
    while (!text.empty())
        appendQuoted(out, takeCharacter(text), quote);
    return out + quote;
}

std::string pythonDocstring(std::string_view text, std::string_view indent)
{
    std::string out = "\"\"\"";
    const bool several = text.find('\n') != std::string_view::npos;
    while (!text.empty()) {
        const char32_t character = takeCharacter(text);
        if (character == U'\n') {
            out += '\n';
            if (!text.empty() && text.front() != '\n')
                out += indent;
        } else {
            appendQuoted(out, character, '"');
        }
    }
    if (several)
        out += "\n" + std::string(indent);
    return out + "\"\"\"";
}

std::optional<std::string> pythonLiteral(const Json& value)
{
    std::string out;
    if (!appendLiteral(out, value, 0) || out.size() > longestLiteral)
        return std::nullopt;
    return out;
}

std::string pythonAnnotation(std::string_view annotation)
{
    if (annotation.size() > longestAnnotation)
        return pythonString("…");
    if (auto plain = AnnotationReader(annotation).read())
        return *plain;
    return pythonString(annotation);
}

bool isPythonName(std::string_view text)
{
    if (text.empty() || text.size() > 200 || isKeyword(text))
        return false;
    for (std::string_view rest = text; !rest.empty();) {
        const bool first = rest.size() == text.size();
        const char32_t c = takeCharacter(rest);
        const bool letter =
            (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || c == U'_' || isStableLetter(c);
        if (!letter && (first || c < U'0' || c > U'9'))
            return false;
    }
    return true;
}

std::string freePythonName(std::string_view wanted, std::set<std::string>& taken)
{
    std::string name;
    for (std::string_view rest = wanted; !rest.empty() && name.size() < 120;) {
        std::string character;
        appendCharacter(character, takeCharacter(rest));
        name += isPythonName("x" + character) ? character : "_";
    }
    if (name.empty() || (name.front() >= '0' && name.front() <= '9'))
        name.insert(0, "_");
    // Names of Python itself and of the library's own helpers are not for functions.
    if (isKeyword(name) || name.starts_with("_gb_"))
        name += '_';
    if (name.starts_with("__"))
        name.insert(0, "x");
    std::string free = name;
    if (taken.contains(free) && !name.ends_with('_'))
        free = name += '_';
    for (int n = 2; taken.contains(free); ++n)
        free = name + std::to_string(n);
    taken.insert(free);
    return free;
}

} // namespace gb::rpc
