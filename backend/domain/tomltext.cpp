// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tomltext.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include <toml++/toml.h>

namespace gb {
namespace {

template <typename T>
std::string printed(const T& value)
{
    std::ostringstream out;
    out << value;
    return out.str();
}

Json fromToml(const toml::node& node)
{
    if (const auto* table = node.as_table()) {
        // toml++ sorts keys; the order of the file is the order of their places in it.
        std::vector<std::pair<toml::source_position, std::pair<std::string, const toml::node*>>> members;
        for (const auto& [key, value] : *table)
            members.push_back({key.source().begin, {std::string(key.str()), &value}});
        std::stable_sort(
            members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        Json json = Json::object();
        for (const auto& [position, member] : members)
            json[member.first] = fromToml(*member.second);
        return json;
    }
    if (const auto* array = node.as_array()) {
        Json json = Json::array();
        for (const auto& item : *array)
            json.push_back(fromToml(item));
        return json;
    }
    if (const auto* text = node.as_string())
        return text->get();
    if (const auto* whole = node.as_integer())
        return whole->get();
    if (const auto* number = node.as_floating_point())
        return number->get();
    if (const auto* flag = node.as_boolean())
        return flag->get();
    if (const auto* date = node.as_date())
        return printed(date->get());
    if (const auto* time = node.as_time())
        return printed(time->get());
    return printed(node.as_date_time()->get());
}

Result<toml::table> parseToml(const std::string& text)
{
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        const auto& at = error.source().begin;
        return fail("toml.syntax",
            "line " + std::to_string(at.line) + ": " + std::string(error.description()),
            Json{{"line", at.line}, {"column", at.column}, {"reason", std::string(error.description())}});
    }
}

// toml++ counts lines from 1 and columns in code points.
std::size_t offsetOf(const std::string& text, toml::source_position position)
{
    std::size_t at = 0;
    for (toml::source_index line = 1; line < position.line; ++line) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string::npos)
            return text.size();
        at = end + 1;
    }
    constexpr unsigned char continuationMask = 0xC0;
    constexpr unsigned char continuation = 0x80;
    for (toml::source_index column = 1; column < position.column && at < text.size(); ++column) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & continuationMask) == continuation)
            ++at;
    }
    return at;
}

struct Span
{
    std::size_t from = 0;
    std::size_t to = 0;
};

Span spanOf(const std::string& text, const toml::source_region& region)
{
    return {offsetOf(text, region.begin), offsetOf(text, region.end)};
}

std::size_t lineStart(const std::string& text, std::size_t at)
{
    const std::size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    return newline == std::string::npos ? 0 : newline + 1;
}

std::size_t lineEnd(const std::string& text, std::size_t at)
{
    const std::size_t newline = text.find('\n', at);
    return newline == std::string::npos ? text.size() : newline + 1;
}

bool isBare(const std::string& key)
{
    return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '-';
    });
}

std::string tomlString(const std::string& text)
{
    // JSON's escapes are TOML's, except that TOML also wants U+007F escaped.
    std::string out;
    for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)) {
        if (c == '\x7f')
            out += "\\u007f";
        else
            out += c;
    }
    return out;
}

std::string tomlKey(const std::string& key)
{
    return isBare(key) ? key : tomlString(key);
}

std::string dotted(const TomlText::Path& path)
{
    std::string out;
    for (const std::string& key : path)
        out += (out.empty() ? "" : ".") + tomlKey(key);
    return out;
}

// "[a.b]" written as its own header, as opposed to an inline table in braces.
bool isSection(const toml::table& table)
{
    return !table.is_inline();
}

// A list written as [[a.b]] sections.
bool isSections(const Json& json)
{
    return json.is_array() && !json.empty()
        && std::all_of(json.begin(), json.end(), [](const Json& item) { return item.is_object(); });
}

const toml::node* nodeAt(const toml::table& root, const TomlText::Path& path)
{
    const toml::node* node = &root;
    for (const std::string& key : path) {
        if (const auto* table = node->as_table())
            node = table->get(key);
        else if (const auto* array = node->as_array(); array && isBare(key) && std::isdigit(key.front()))
            node = array->get(std::stoul(key));
        else
            node = nullptr;
        if (!node)
            return nullptr;
    }
    return node;
}

bool wasSections(const toml::node* node)
{
    const auto* array = node ? node->as_array() : nullptr;
    return array && !array->empty() && std::all_of(array->begin(), array->end(), [](const toml::node& item) {
        return item.is_table() && isSection(*item.as_table());
    });
}

bool insideInline(const toml::table& root, const TomlText::Path& path)
{
    for (std::size_t depth = 1; depth < path.size(); ++depth) {
        const toml::node* node = nodeAt(root, TomlText::Path(path.begin(), path.begin() + depth));
        if (node && node->is_table() && !isSection(*node->as_table()))
            return true;
    }
    return false;
}

// Where the section that starts at the header ends: before the next line that starts with "[" and the
// comments glued to it.
std::size_t sectionEnd(const std::string& text, std::size_t header, const toml::table& root)
{
    std::size_t best = text.size();
    const auto visit = [&](const auto& self, const toml::node& node) -> void {
        if (const auto* table = node.as_table()) {
            if (isSection(*table) && table->source().begin) {
                const std::size_t at = offsetOf(text, table->source().begin);
                if (at > header && at < text.size() && text[at] == '[')
                    best = std::min(best, lineStart(text, at));
            }
            for (const auto& [key, child] : *table)
                self(self, child);
        } else if (const auto* array = node.as_array()) {
            for (const auto& child : *array)
                self(self, child);
        }
    };
    visit(visit, root);
    while (best > header) {
        const std::size_t before = lineStart(text, best - 1);
        const std::size_t first = text.find_first_not_of(" \t", before);
        if (before <= header || text[first] != '#')
            break;
        best = before;
    }
    return best;
}

// After the last "key = value" of the table itself, or after its header.
std::size_t insertionPoint(const std::string& text, const toml::table& table, bool isRoot)
{
    std::size_t at = isRoot ? 0 : lineEnd(text, offsetOf(text, table.source().begin));
    bool any = false;
    for (const auto& [key, value] : table) {
        const bool section = (value.is_table() && isSection(*value.as_table())) || wasSections(&value);
        if (section)
            continue;
        const std::size_t end = lineEnd(text, spanOf(text, value.source()).to);
        at = any ? std::max(at, end) : end;
        any = true;
    }
    if (isRoot && !any) {
        while (at < text.size() && text[at] == '#')
            at = lineEnd(text, at);
    }
    return at;
}

} // namespace

std::string tomlValue(const Json& value)
{
    if (value.is_string())
        return tomlString(value.get<std::string>());
    std::string out;
    if (value.is_array()) {
        for (const Json& item : value)
            out += (out.empty() ? "" : ", ") + tomlValue(item);
        return "[" + out + "]";
    }
    if (value.is_object()) {
        for (const auto& [key, item] : value.items()) {
            if (!item.is_null())
                out += (out.empty() ? " " : ", ") + tomlKey(key) + " = " + tomlValue(item);
        }
        return "{" + out + (out.empty() ? "}" : " }");
    }
    return value.dump();
}

Result<TomlText> TomlText::parse(std::string text)
{
    auto table = parseToml(text);
    if (!table)
        return fail(table.error());
    TomlText document;
    document.m_json = fromToml(*table);
    document.m_text = std::move(text);
    return document;
}

namespace {

void setIn(Json& root, const TomlText::Path& path, const Json& value)
{
    Json* at = &root;
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
        at = at->is_array() ? &(*at)[std::stoul(path[i])] : &(*at)[path[i]];
    if (value.is_null())
        at->erase(path.back());
    else
        (*at)[path.back()] = value;
}

// Without nulls (TOML has none) and, for comparison, without the order of keys.
nlohmann::json comparable(const Json& json)
{
    if (json.is_object()) {
        nlohmann::json out = nlohmann::json::object();
        for (const auto& [key, value] : json.items()) {
            if (!value.is_null())
                out[key] = comparable(value);
        }
        return out;
    }
    if (json.is_array()) {
        nlohmann::json out = nlohmann::json::array();
        for (const Json& item : json)
            out.push_back(comparable(item));
        return out;
    }
    return nlohmann::json::parse(json.dump());
}

// A list of sections without sections cannot be told from none, nor an emptied table that lost its header.
nlohmann::json withoutEmpty(nlohmann::json json)
{
    if (!json.is_object())
        return json;
    for (auto it = json.begin(); it != json.end();) {
        *it = withoutEmpty(std::move(*it));
        it = it->is_structured() && it->empty() ? json.erase(it) : std::next(it);
    }
    return json;
}

const Json* jsonAt(const Json& root, const TomlText::Path& path)
{
    const Json* at = &root;
    for (const std::string& key : path) {
        if (at->is_object() && at->contains(key))
            at = &(*at)[key];
        else if (at->is_array() && std::stoul(key) < at->size())
            at = &(*at)[std::stoul(key)];
        else
            return nullptr;
    }
    return at;
}

} // namespace

Status TomlText::set(const Path& path, const Json& value)
{
    const TomlText before = *this;
    Json meant = m_json;
    setIn(meant, path, value);
    Status done = apply(path, value);
    if (done && withoutEmpty(comparable(m_json)) == withoutEmpty(comparable(meant)))
        return {};
    *this = before;
    if (!done)
        return done;
    return fail("toml.cannot_edit",
        dotted(path) + " cannot be changed without rewriting other parts of the file",
        Json{{"path", dotted(path)}});
}

Status TomlText::replaceText(std::size_t from, std::size_t to, const std::string& with)
{
    std::string changed = m_text;
    changed.replace(from, to - from, with);
    auto reparsed = parse(std::move(changed));
    if (!reparsed)
        return fail("toml.cannot_edit", "the change would break the file: " + reparsed.error().message);
    *this = std::move(*reparsed);
    return {};
}

Status TomlText::apply(const Path& path, const Json& value)
{
    const Json* known = jsonAt(m_json, path);
    const Json old = known ? *known : Json();
    if (comparable(old) == comparable(value))
        return {};
    auto root = parseToml(m_text);
    if (!root)
        return fail(root.error());
    const toml::node* node = nodeAt(*root, path);
    if (node && wasSections(node))
        return applyTables(path, old, value.is_null() ? Json::array() : value);
    if (node && node->is_table() && isSection(*node->as_table()) && (value.is_object() || value.is_null()))
        return applyObject(path, old, value.is_null() ? Json::object() : value);
    if (node && value.is_null()) {
        const Path parent(path.begin(), path.end() - 1);
        const toml::table* table = nodeAt(*root, parent)->as_table();
        if (!parent.empty() && !isSection(*table)) {
            Json whole = *jsonAt(m_json, parent);
            whole.erase(path.back());
            const Span span = spanOf(m_text, table->source());
            return replaceText(span.from, span.to, tomlValue(whole));
        }
        const toml::key& key = table->find(path.back())->first;
        const std::size_t from = lineStart(m_text, spanOf(m_text, key.source()).from);
        return replaceText(from, lineEnd(m_text, spanOf(m_text, node->source()).to), "");
    }
    if (node) {
        const Span span = spanOf(m_text, node->source());
        return replaceText(span.from, span.to, tomlValue(value));
    }
    if (value.is_null())
        return {};
    if (isSections(value) && !insideInline(*root, path))
        return applyTables(path, Json::array(), value);

    const Path parent(path.begin(), path.end() - 1);
    const toml::node* place = nodeAt(*root, parent);
    const toml::table* table = place ? place->as_table() : nullptr;
    const std::string line = tomlKey(path.back()) + " = " + tomlValue(value) + "\n";
    if (!table
        || (!parent.empty() && isSection(*table) && m_text[offsetOf(m_text, table->source().begin)] != '[')) {
        const std::string gap = m_text.empty() ? "" : m_text.ends_with('\n') ? "\n" : "\n\n";
        return replaceText(m_text.size(), m_text.size(), gap + "[" + dotted(parent) + "]\n" + line);
    }
    if (!parent.empty() && !isSection(*table)) {
        Json whole = *jsonAt(m_json, parent);
        whole[path.back()] = value;
        const Span span = spanOf(m_text, table->source());
        return replaceText(span.from, span.to, tomlValue(whole));
    }
    const std::size_t at = insertionPoint(m_text, *table, parent.empty());
    const bool needsNewline = at > 0 && m_text[at - 1] != '\n';
    return replaceText(at, at, (needsNewline ? "\n" : "") + line);
}

Status TomlText::applyObject(const Path& path, const Json& old, const Json& value)
{
    Path child = path;
    child.emplace_back();
    for (const auto& [key, ignored] : old.items()) {
        child.back() = key;
        if (!value.contains(key))
            GB_TRY(apply(child, nullptr));
    }
    for (const auto& [key, item] : value.items()) {
        child.back() = key;
        GB_TRY(apply(child, item));
    }
    return {};
}

Status TomlText::applyTables(const Path& path, const Json& old, const Json& value)
{
    if (!value.is_array() || (!value.empty() && !isSections(value)))
        return fail(
            "toml.cannot_edit", dotted(path) + " is a list of tables and can only become another one");
    const std::size_t common = std::min(old.size(), value.size());
    Path child = path;
    child.emplace_back();
    for (std::size_t i = 0; i < common; ++i) {
        child.back() = std::to_string(i);
        if (comparable(old[i]) != comparable(value[i]))
            GB_TRY(applyObject(child, old[i], value[i]));
    }
    for (std::size_t i = old.size(); i > common; --i) {
        auto root = parseToml(m_text);
        child.back() = std::to_string(i - 1);
        const toml::node* node = root ? nodeAt(*root, child) : nullptr;
        if (!node)
            return fail("toml.cannot_edit", dotted(child) + " cannot be found");
        const std::size_t from = offsetOf(m_text, node->source().begin);
        GB_TRY(replaceText(lineStart(m_text, from), sectionEnd(m_text, from, *root), ""));
    }
    for (std::size_t i = common; i < value.size(); ++i) {
        std::string section = "[[" + dotted(path) + "]]\n";
        for (const auto& [key, item] : value[i].items()) {
            if (!item.is_null())
                section += tomlKey(key) + " = " + tomlValue(item) + "\n";
        }
        auto root = parseToml(m_text);
        std::size_t at = m_text.size();
        child.back() = std::to_string(i == 0 ? 0 : i - 1);
        if (const toml::node* last = root && i > 0 ? nodeAt(*root, child) : nullptr)
            at = sectionEnd(m_text, offsetOf(m_text, last->source().begin), *root);
        const std::string gap = at == 0              ? ""
            : m_text.substr(0, at).ends_with("\n\n") ? ""
            : m_text[at - 1] == '\n'                 ? "\n"
                                                     : "\n\n";
        GB_TRY(replaceText(at, at, gap + section + (at < m_text.size() ? "\n" : "")));
    }
    return {};
}

} // namespace gb
