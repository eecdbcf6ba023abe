// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.h"

#include <algorithm>
#include <charconv>

namespace gb::cli {
namespace {

std::string longName(const std::vector<Option>& options, const std::string& word)
{
    if (word.size() != 2 || word[0] != '-' || word[1] == '-')
        return word;
    for (const Option& option : options) {
        if (option.letter == word[1])
            return option.name;
    }
    return word;
}

} // namespace

Result<Arguments> Arguments::parse(
    const std::vector<Option>& options, const std::vector<std::string>& words, std::size_t plainFrom)
{
    Arguments parsed;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = longName(options, words[i]);
        if (word == "--") {
            parsed.m_positional.insert(
                parsed.m_positional.end(), words.begin() + static_cast<long>(i) + 1, words.end());
            break;
        }
        if (!word.starts_with("--") || word.size() == 2) {
            parsed.m_positional.push_back(word);
            if (parsed.m_positional.size() >= plainFrom) {
                parsed.m_positional.insert(
                    parsed.m_positional.end(), words.begin() + static_cast<long>(i) + 1, words.end());
                break;
            }
            continue;
        }
        const auto equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const auto option = std::find_if(
            options.begin(), options.end(), [&name](const Option& known) { return known.name == name; });
        if (option == options.end())
            return fail("usage", "there is no option " + name);
        std::string value;
        if (option->value.empty()) {
            if (equals != std::string::npos)
                return fail("usage", name + " takes no value");
        } else if (equals != std::string::npos) {
            value = word.substr(equals + 1);
        } else if (i + 1 < words.size()) {
            value = words[++i];
        } else {
            return fail("usage", name + " needs " + option->value);
        }
        auto& values = parsed.m_options[name];
        if (!values.empty() && !option->many)
            return fail("usage", name + " may be given once");
        values.push_back(std::move(value));
    }
    return parsed;
}

std::string Arguments::value(const std::string& option, const std::string& fallback) const
{
    const auto found = m_options.find(option);
    return found == m_options.end() ? fallback : found->second.back();
}

std::vector<std::string> Arguments::values(const std::string& option) const
{
    const auto found = m_options.find(option);
    return found == m_options.end() ? std::vector<std::string>() : found->second;
}

Result<std::int64_t> Arguments::integer(const std::string& option, std::int64_t fallback) const
{
    if (!has(option))
        return fallback;
    const std::string text = value(option);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return fail("usage", option + " takes a whole number, not \"" + text + "\"");
    return number;
}

} // namespace gb::cli
