// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "concealer.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

namespace gb {
namespace {

char lowerCase(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool isWordCharacter(char c)
{
    return (lowerCase(c) >= 'a' && lowerCase(c) <= 'z') || (c >= '0' && c <= '9');
}

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

std::string underscored(std::string text)
{
    std::ranges::replace_if(
        text, [](char c) { return !isWordCharacter(c); }, '_');
    return text;
}

// In JSON the letter before a word may be the end of an escape, as in "\nname" or "\u00e9name".
bool isEscape(std::string_view before)
{
    const auto isEscaped = [&](std::size_t length) {
        std::size_t slashes = 0;
        for (std::size_t i = before.size() - length; i > 0 && before[i - 1] == '\\'; --i)
            ++slashes;
        return slashes % 2 == 1;
    };
    constexpr std::size_t unicodeLength = 5;
    constexpr std::string_view letters = "bfnrt";
    if (letters.find(before.back()) != std::string_view::npos && isEscaped(1))
        return true;
    return before.size() > unicodeLength && before[before.size() - unicodeLength] == 'u'
        && isEscaped(unicodeLength);
}

} // namespace

void Concealer::add(const std::string& name, const std::string& alias)
{
    constexpr std::size_t shortestWord = 4;
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), lowerCase);
    const auto slash = lower.find('/');
    const std::string word = slash == std::string::npos ? lower : lower.substr(slash + 1);
    std::set<std::string> whole;
    if (slash != std::string::npos) {
        for (const char* between : {"/", "\\/", "--", "_", "%2f"})
            whole.insert(replaced(lower, "/", between));
        whole.insert(underscored(lower));
    }
    for (const std::string& text : whole)
        m_patterns.push_back({text, alias, false});
    const bool isWord =
        word.size() >= shortestWord && std::ranges::any_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
    if (isWord) {
        for (const std::string& text : std::set<std::string>{word, underscored(word)})
            m_patterns.push_back({text, alias, true});
    }
    std::ranges::stable_sort(
        m_patterns, std::greater<>(), [](const Pattern& pattern) { return pattern.text.size(); });
}

std::size_t Concealer::find(const Pattern& pattern, std::string_view text, std::size_t from)
{
    const auto hash = [](char c) { return std::hash<char>()(lowerCase(c)); };
    const auto same = [](char a, char b) { return lowerCase(a) == lowerCase(b); };
    const std::boyer_moore_horspool_searcher searcher(pattern.text.begin(), pattern.text.end(), hash, same);
    while (from < text.size()) {
        const auto found =
            std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), searcher);
        if (found == text.end())
            break;
        const auto at = static_cast<std::size_t>(found - text.begin());
        const std::size_t end = at + pattern.text.size();
        const bool begins = at == 0 || !isWordCharacter(text[at - 1]) || isEscape(text.substr(0, at));
        const bool ends = end == text.size() || !isWordCharacter(text[end]);
        if (!pattern.isWord || (begins && ends))
            return at;
        from = at + 1;
    }
    return std::string_view::npos;
}

bool Concealer::finds(std::string_view text, Names names) const
{
    return std::ranges::any_of(m_patterns, [&](const Pattern& pattern) {
        return !(pattern.isWord && names == Names::Whole) && find(pattern, text, 0) != std::string_view::npos;
    });
}

std::string Concealer::conceal(std::string text, Names names) const
{
    for (const Pattern& pattern : m_patterns) {
        if (pattern.isWord && names == Names::Whole)
            continue;
        std::string out;
        std::size_t done = 0;
        for (std::size_t at = find(pattern, text, 0); at != std::string_view::npos;
             at = find(pattern, text, done)) {
            out.append(text, done, at - done).append(pattern.alias);
            done = at + pattern.text.size();
        }
        if (done > 0)
            text = out.append(text, done, std::string::npos);
    }
    return text;
}

} // namespace gb
