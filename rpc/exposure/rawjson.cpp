// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "rawjson.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace gb::rpc {
namespace {

constexpr std::string_view blanks = " \t\r\n";

void skipBlanks(std::string_view& text)
{
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
}

std::size_t stringLength(std::string_view text)
{
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '\\')
            ++i;
        else if (text[i] == '"')
            return i + 1;
    }
    return text.size();
}

std::size_t valueLength(std::string_view text)
{
    if (text.empty() || text.front() == '"')
        return stringLength(text);
    if (text.front() != '{' && text.front() != '[')
        return std::min(text.find_first_of(",]} \t\r\n"), text.size());
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"')
            i += stringLength(text.substr(i)) - 1;
        else if (text[i] == '{' || text[i] == '[')
            ++depth;
        else if ((text[i] == '}' || text[i] == ']') && --depth == 0)
            return i + 1;
    }
    return text.size();
}

std::string_view takeValue(std::string_view& text)
{
    skipBlanks(text);
    const std::string_view value = text.substr(0, valueLength(text));
    text.remove_prefix(value.size());
    skipBlanks(text);
    return value;
}

} // namespace

std::vector<std::pair<std::string, std::string_view>> rawMembers(std::string_view json)
{
    std::vector<std::pair<std::string, std::string_view>> members;
    skipBlanks(json);
    if (json.empty() || (json.front() != '{' && json.front() != '['))
        return members;
    const bool object = json.front() == '{';
    json.remove_prefix(1);
    skipBlanks(json);
    while (!json.empty() && json.front() != '}' && json.front() != ']') {
        std::string key;
        if (object) {
            const auto parsed = nlohmann::json::parse(takeValue(json), nullptr, false);
            key = parsed.is_string() ? parsed.get<std::string>() : std::string();
            json.remove_prefix(std::min<std::size_t>(1, json.size()));
        }
        members.emplace_back(std::move(key), takeValue(json));
        if (!json.empty() && json.front() == ',')
            json.remove_prefix(1);
        skipBlanks(json);
    }
    return members;
}

std::string_view rawMember(std::string_view object, std::string_view key)
{
    for (const auto& [name, value] : rawMembers(object)) {
        if (name == key)
            return value;
    }
    return {};
}

} // namespace gb::rpc
