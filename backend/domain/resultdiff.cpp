// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "resultdiff.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace gb {
namespace {

constexpr std::size_t diffBytesMost = 16U << 20U;
constexpr std::size_t diffWordsMost = 2000; // of each text: the table of the comparison grows with the square
constexpr std::size_t diffTextMost = 200;

std::string shortJson(const Json& value)
{
    auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() <= diffTextMost)
        return text;
    auto end = diffTextMost;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) // not inside a character
        --end;
    return text.substr(0, end) + "…";
}

class Differ
{
public:
    explicit Differ(const DiffTolerance& tolerance) : m_tolerance(tolerance) { }

    void compare(const Json& left, const Json& right, const std::string& path)
    {
        if (left.is_number() && right.is_number())
            return compareNumbers(left, right, path);
        if (left.is_object() && right.is_object())
            return compareObjects(left, right, path);
        if (left.is_array() && right.is_array())
            return compareArrays(left, right, path);
        if (left != right)
            add(ResultDiff::Kind::Changed, path, &left, &right);
    }
    ResultDiff take()
    {
        if (m_count > 0) {
            const auto size = std::sqrt(m_left) * std::sqrt(m_right);
            // Two zero vectors point the same way; one alone points nowhere.
            const auto cosine = size > 0 ? m_dot / size : (m_left == m_right ? 1.0 : 0.0);
            m_diff.numbers = {m_count, m_greatest, m_sum / static_cast<double>(m_count), cosine};
        }
        return std::move(m_diff);
    }

private:
    void add(ResultDiff::Kind kind, const std::string& path, const Json* left, const Json* right)
    {
        if (m_diff.total++ < linesMost)
            m_diff.lines.push_back({kind, path, left ? shortJson(*left) : std::string(),
                right ? shortJson(*right) : std::string()});
    }
    void compareNumbers(const Json& left, const Json& right, const std::string& path)
    {
        const auto a = left.get<double>();
        const auto b = right.get<double>();
        const auto off = std::abs(a - b);
        ++m_count;
        m_greatest = std::max(m_greatest, off);
        m_sum += off;
        m_dot += a * b;
        m_left += a * a;
        m_right += b * b;
        if (off > m_tolerance.absolute + m_tolerance.relative * std::max(std::abs(a), std::abs(b)))
            add(ResultDiff::Kind::Changed, path, &left, &right);
    }
    void compareObjects(const Json& left, const Json& right, const std::string& path)
    {
        for (const auto& [key, value] : left.items()) {
            const auto other = right.find(key);
            const auto at = path + "." + key;
            if (other == right.end())
                add(ResultDiff::Kind::Removed, at, &value, nullptr);
            else
                compare(value, *other, at);
        }
        for (const auto& [key, value] : right.items())
            if (!left.contains(key))
                add(ResultDiff::Kind::Added, path + "." + key, nullptr, &value);
    }
    void compareArrays(const Json& left, const Json& right, const std::string& path)
    {
        for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
            const auto at = path + "[" + std::to_string(i) + "]";
            if (i >= right.size())
                add(ResultDiff::Kind::Removed, at, &left[i], nullptr);
            else if (i >= left.size())
                add(ResultDiff::Kind::Added, at, nullptr, &right[i]);
            else
                compare(left[i], right[i], at);
        }
    }

    DiffTolerance m_tolerance;
    ResultDiff m_diff;
    std::size_t m_count = 0;
    double m_greatest = 0, m_sum = 0, m_dot = 0, m_left = 0, m_right = 0;
};

// Words with the white space after them, so that put together they are the text again.
std::vector<std::string> wordsOf(std::string_view text)
{
    std::vector<std::string> words;
    bool space = true;
    for (const char c : text) {
        const bool isSpace = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (words.empty() || (space && !isSpace)) {
            if (words.size() == diffWordsMost)
                break;
            words.emplace_back();
        }
        words.back() += c;
        space = isSpace;
    }
    return words;
}

std::vector<ResultDiff::Words> diffWords(std::string_view leftText, std::string_view rightText)
{
    const auto left = wordsOf(leftText);
    const auto right = wordsOf(rightText);
    const auto width = right.size() + 1;
    std::vector<std::uint16_t> common((left.size() + 1) * width); // words both have from here on
    for (auto i = left.size(); i-- > 0;)
        for (auto j = right.size(); j-- > 0;)
            common[i * width + j] = left[i] == right[j]
                ? static_cast<std::uint16_t>(common[(i + 1) * width + j + 1] + 1)
                : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    std::vector<ResultDiff::Words> parts;
    const auto put = [&parts](std::optional<ResultDiff::Kind> kind, const std::string& word) {
        if (parts.empty() || parts.back().kind != kind)
            parts.push_back({kind, {}});
        parts.back().text += word;
    };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < left.size() || j < right.size()) {
        if (i < left.size() && j < right.size() && left[i] == right[j]) {
            put({}, left[i++]);
            ++j;
        } else if (j == right.size()
            || (i < left.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
            put(ResultDiff::Kind::Removed, left[i++]);
        } else {
            put(ResultDiff::Kind::Added, right[j++]);
        }
    }
    return parts;
}

std::string_view nameOfKind(ResultDiff::Kind kind)
{
    return kind == ResultDiff::Kind::Added  ? "added"
        : kind == ResultDiff::Kind::Removed ? "removed"
                                            : "changed";
}

} // namespace

ResultDiff diffResults(const Json& left, const Json& right, const DiffTolerance& tolerance)
{
    Differ differ(tolerance);
    differ.compare(left, right, "$");
    auto diff = differ.take();
    if (left.is_string() && right.is_string() && !diff.same())
        diff.words = diffWords(left.get_ref<const std::string&>(), right.get_ref<const std::string&>());
    return diff;
}

Result<ResultDiff> diffResults(std::string_view left, std::string_view right, const DiffTolerance& tolerance)
{
    if (left.size() > diffBytesMost || right.size() > diffBytesMost)
        return fail("diff.large", "results above 16 MB are not compared");
    const auto a = parseJson(left);
    const auto b = parseJson(right);
    if (!a || !b)
        return fail(a ? b.error() : a.error());
    return diffResults(*a, *b, tolerance);
}

Json toJson(const ResultDiff& diff)
{
    Json json{{"same", diff.same()}, {"differences", diff.total}};
    Json lines = Json::array();
    for (const auto& line : diff.lines) {
        Json one{{"kind", nameOfKind(line.kind)}, {"path", line.path}};
        if (line.kind != ResultDiff::Kind::Added)
            one["left"] = line.left;
        if (line.kind != ResultDiff::Kind::Removed)
            one["right"] = line.right;
        lines.push_back(std::move(one));
    }
    json["lines"] = std::move(lines);
    if (diff.numbers)
        json["numbers"] = {{"count", diff.numbers->count}, {"max", diff.numbers->greatest},
            {"mean", diff.numbers->mean}, {"cosine", diff.numbers->cosine}};
    Json words = Json::array();
    for (const auto& part : diff.words)
        words.push_back({{"kind", part.kind ? nameOfKind(*part.kind) : "same"}, {"text", part.text}});
    if (!words.empty())
        json["words"] = std::move(words);
    return json;
}

} // namespace gb
