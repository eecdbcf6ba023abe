// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "jsonslice.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include <backend/base/json.h>

namespace gb::ui {
namespace {

class Scanner
{
public:
    Scanner(std::string_view text, std::size_t at, std::size_t end)
        : m_text(text.substr(0, end)), m_at(at) { }

    bool atEnd() const { return m_at >= m_text.size(); }
    std::uint32_t at() const { return static_cast<std::uint32_t>(m_at); }
    char peek() const { return atEnd() ? '\0' : m_text[m_at]; }
    void skip() { ++m_at; }
    void skipSpace()
    {
        while (!atEnd()
            && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r' || peek() == ','
                || peek() == ':'))
            ++m_at;
    }
    // Stands on the opening quote; afterwards behind the closing one.
    void skipString()
    {
        ++m_at;
        while (!atEnd()) {
            const auto* quote =
                static_cast<const char*>(std::memchr(m_text.data() + m_at, '"', m_text.size() - m_at));
            if (!quote) {
                m_at = m_text.size();
                return;
            }
            auto at = static_cast<std::size_t>(quote - m_text.data());
            m_at = at + 1;
            std::size_t slashes = 0;
            while (at > slashes && m_text[at - 1 - slashes] == '\\')
                ++slashes;
            if (slashes % 2 == 0)
                return;
        }
    }
    void skipValue()
    {
        const char c = peek();
        if (c == '"') {
            skipString();
        } else if (c == '{' || c == '[') {
            int depth = 0;
            while (!atEnd()) {
                const char d = m_text[m_at];
                if (d == '"') {
                    skipString();
                    continue;
                }
                ++m_at;
                if (d == '{' || d == '[')
                    ++depth;
                else if ((d == '}' || d == ']') && --depth == 0)
                    return;
            }
        } else {
            while (!atEnd() && !std::strchr(",]} \n\t\r", peek()))
                ++m_at;
        }
    }

private:
    std::string_view m_text;
    std::size_t m_at;
};

std::string_view clipped(std::string_view bytes, std::size_t limit)
{
    if (bytes.size() <= limit)
        return bytes;
    bytes = bytes.substr(0, limit);
    // Not inside a UTF-8 sequence, not inside an escape.
    while (!bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0xC0) == 0x80)
        bytes.remove_suffix(1);
    if (!bytes.empty() && static_cast<unsigned char>(bytes.back()) >= 0xC0)
        bytes.remove_suffix(1);
    const auto slash = bytes.find_last_of('\\');
    if (slash != std::string_view::npos && bytes.size() - slash < 12)
        bytes = bytes.substr(0, slash);
    return bytes;
}

QString unescaped(std::string_view inner)
{
    if (inner.find('\\') == std::string_view::npos)
        return QString::fromUtf8(inner.data(), static_cast<qsizetype>(inner.size()));
    const auto value = nlohmann::json::parse('"' + std::string(inner) + '"', nullptr, false);
    return value.is_string() ? QString::fromStdString(value.get<std::string>())
                             : QString::fromUtf8(inner.data(), static_cast<qsizetype>(inner.size()));
}

} // namespace

JsonSlice wholeJson(std::string_view text)
{
    Scanner scan(text, 0, text.size());
    scan.skipSpace();
    JsonSlice slice;
    slice.begin = scan.at();
    scan.skipValue();
    slice.end = scan.at();
    return slice;
}

JsonKind jsonKind(std::string_view text, const JsonSlice& slice)
{
    if (slice.begin >= slice.end || slice.end > text.size())
        return JsonKind::Broken;
    switch (text[slice.begin]) {
    case '{':
        return JsonKind::Object;
    case '[':
        return JsonKind::Array;
    case '"':
        return JsonKind::String;
    case 't':
    case 'f':
        return JsonKind::Boolean;
    case 'n':
        return JsonKind::Null;
    default:
        return JsonKind::Number;
    }
}

std::vector<JsonSlice> jsonChildren(std::string_view text, const JsonSlice& slice, std::size_t limit)
{
    std::vector<JsonSlice> children;
    const auto kind = jsonKind(text, slice);
    if (kind != JsonKind::Array && kind != JsonKind::Object)
        return children;
    Scanner scan(text, slice.begin + 1U, slice.end);
    while (children.size() < limit) {
        scan.skipSpace();
        if (scan.atEnd() || scan.peek() == ']' || scan.peek() == '}')
            break;
        JsonSlice child;
        if (kind == JsonKind::Object) {
            child.keyBegin = scan.at() + 1;
            scan.skipString();
            child.keyEnd = scan.at() - 1;
            scan.skipSpace();
        }
        child.begin = scan.at();
        scan.skipValue();
        child.end = scan.at();
        if (child.end == child.begin)
            break;
        children.push_back(child);
    }
    return children;
}

std::optional<JsonSlice> jsonMember(std::string_view text, const JsonSlice& slice, std::string_view key)
{
    if (jsonKind(text, slice) != JsonKind::Object)
        return {};
    for (const auto& child : jsonChildren(text, slice, 4096))
        if (text.substr(child.keyBegin, child.keyEnd - child.keyBegin) == key)
            return child;
    return {};
}

std::optional<double> jsonNumber(std::string_view text, const JsonSlice& slice)
{
    const auto kind = jsonKind(text, slice);
    if (kind == JsonKind::Object) {
        const auto special = jsonMember(text, slice, "$gb");
        const auto name = special ? jsonBytes(text, *special) : std::string_view();
        if (name == "\"nan\"")
            return std::nan("");
        if (name == "\"inf\"" || name == "\"-inf\"")
            return name[1] == '-' ? -std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::infinity();
        return {};
    }
    if (kind != JsonKind::Number)
        return {};
    const auto bytes = jsonBytes(text, slice);
    double value = 0;
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
    if (error != std::errc() || end != bytes.data() + bytes.size())
        return {};
    return value;
}

QString jsonString(std::string_view text, const JsonSlice& slice, std::size_t limit)
{
    if (jsonKind(text, slice) != JsonKind::String || slice.end - slice.begin < 2)
        return {};
    const auto inner = text.substr(slice.begin + 1U, slice.end - slice.begin - 2U);
    return unescaped(clipped(inner, limit));
}

QString jsonKey(std::string_view text, const JsonSlice& slice)
{
    return unescaped(clipped(text.substr(slice.keyBegin, slice.keyEnd - slice.keyBegin), 400));
}

QString jsonScalarText(std::string_view text, const JsonSlice& slice, std::size_t limit)
{
    if (jsonKind(text, slice) == JsonKind::String) {
        auto value = jsonString(text, slice, limit);
        if (slice.end - slice.begin - 2U > limit)
            value += QChar(0x2026);
        return value;
    }
    const auto bytes = clipped(jsonBytes(text, slice), limit);
    return QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size()));
}

std::optional<std::vector<double>> jsonNumbers(std::string_view text, const JsonSlice& slice)
{
    if (jsonKind(text, slice) != JsonKind::Array)
        return {};
    std::vector<double> numbers;
    for (const auto& child : jsonChildren(text, slice)) {
        const auto number = jsonNumber(text, child);
        if (!number)
            return {};
        numbers.push_back(*number);
    }
    return numbers;
}

} // namespace gb::ui
