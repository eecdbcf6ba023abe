// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "ansi.h"

#include <array>
#include <charconv>

namespace gb::ui {
namespace {

constexpr std::uint32_t ansiRgb = 0x1000000;
constexpr std::size_t ansiLongest = 64; // a longer sequence is not one

std::vector<int> numbersOf(std::string_view parameters)
{
    std::vector<int> numbers;
    std::size_t at = 0;
    while (at <= parameters.size()) {
        const auto end = std::min(parameters.find_first_of(";:", at), parameters.size());
        int value = 0;
        std::from_chars(parameters.data() + at, parameters.data() + end, value);
        numbers.push_back(value);
        at = end + 1;
    }
    return numbers;
}

std::uint32_t extendedColor(const std::vector<int>& numbers, std::size_t& i)
{
    if (i + 2 < numbers.size() && numbers[i + 1] == 5) {
        const auto index = static_cast<std::uint32_t>(numbers[i + 2] & 0xFF);
        i += 2;
        return index + 17;
    }
    if (i + 4 < numbers.size() && numbers[i + 1] == 2) {
        const auto part = [&](std::size_t n) { return static_cast<std::uint32_t>(numbers[i + n] & 0xFF); };
        const auto color = ansiRgb | part(2) << 16U | part(3) << 8U | part(4);
        i += 4;
        return color;
    }
    return 0;
}

QColor paletteColor(std::uint32_t index, const Tokens& t)
{
    if (index < 16) {
        // The names, not the numbers, are what programs mean: red is this theme's red.
        const std::array<QColor, 8> named = {t.dark ? t.secondary : t.text, t.error, t.success, t.warning,
            t.info, t.dark ? QColor(0xE29BD6) : QColor(0x8E2A7E),
            t.dark ? QColor(0x5FD3E6) : QColor(0x0B6577), t.dark ? t.text : t.secondary};
        return named.at(index % 8);
    }
    if (index >= 232) {
        const auto gray = static_cast<int>(8 + (index - 232) * 10);
        return {gray, gray, gray};
    }
    const auto level = [](std::uint32_t n) { return n == 0 ? 0 : static_cast<int>(55 + 40 * n); };
    const auto cube = index - 16;
    return {level(cube / 36), level(cube / 6 % 6), level(cube % 6)};
}

QColor namedColor(std::uint32_t code, const Tokens& tokens)
{
    return code == 0            ? QColor()
        : (code & ansiRgb) != 0 ? QColor(QRgb(code & 0xFFFFFF))
                                : paletteColor(code <= 16 ? code - 1 : code - 17, tokens);
}

} // namespace

const std::vector<AnsiPiece>& AnsiParser::feed(std::string_view bytes)
{
    m_pieces.clear();
    if (!m_pending.empty()) {
        m_joined = m_pending;
        m_joined += bytes;
        m_pending.clear();
        bytes = m_joined;
    }
    std::size_t start = 0;
    std::size_t at = 0;
    const auto flush = [&] {
        if (at > start)
            m_pieces.push_back({bytes.substr(start, at - start), m_style});
    };
    while (at < bytes.size()) {
        const auto c = static_cast<unsigned char>(bytes[at]);
        if (c == 0x1B) {
            flush();
            bool incomplete = false;
            const auto next = escape(bytes, at, incomplete);
            if (incomplete) {
                m_pending = std::string(bytes.substr(at));
                return m_pieces;
            }
            at = start = next;
        } else if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F) {
            flush();
            start = ++at;
        } else {
            ++at;
        }
    }
    flush();
    return m_pieces;
}

std::size_t AnsiParser::escape(std::string_view bytes, std::size_t at, bool& incomplete)
{
    if (at + 1 >= bytes.size()) {
        incomplete = true;
        return at;
    }
    const char kind = bytes[at + 1];
    if (kind == '[') {
        for (auto i = at + 2; i < bytes.size() && i < at + ansiLongest; ++i) {
            if (bytes[i] >= 0x40 && bytes[i] <= 0x7E) {
                sequence(bytes.substr(at + 2, i - at - 2), bytes[i]);
                return i + 1;
            }
        }
        incomplete = bytes.size() < at + ansiLongest;
        return at + 2;
    }
    if (kind == ']' || kind == 'P' || kind == '_' || kind == '^') {
        // Titles, links, clipboard: swallowed up to their end.
        for (auto i = at + 2; i < bytes.size(); ++i) {
            if (bytes[i] == '\a')
                return i + 1;
            if (bytes[i] == 0x1B && i + 1 < bytes.size() && bytes[i + 1] == '\\')
                return i + 2;
        }
        incomplete = bytes.size() - at < 4096;
        return bytes.size();
    }
    return at + 2;
}

void AnsiParser::sequence(std::string_view parameters, char final)
{
    if (final != 'm')
        return;
    const auto numbers = numbersOf(parameters);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto n = numbers[i];
        if (n == 0)
            m_style = {};
        else if (n == 1)
            m_style.bold = true;
        else if (n == 2)
            m_style.faint = true;
        else if (n == 3)
            m_style.italic = true;
        else if (n == 4)
            m_style.underline = true;
        else if (n == 22)
            m_style.bold = m_style.faint = false;
        else if (n == 23)
            m_style.italic = false;
        else if (n == 24)
            m_style.underline = false;
        else if (n >= 30 && n <= 37)
            m_style.foreground = static_cast<std::uint32_t>(n - 29);
        else if (n >= 90 && n <= 97)
            m_style.foreground = static_cast<std::uint32_t>(n - 81);
        else if (n >= 40 && n <= 47)
            m_style.background = static_cast<std::uint32_t>(n - 39);
        else if (n >= 100 && n <= 107)
            m_style.background = static_cast<std::uint32_t>(n - 91);
        else if (n == 38)
            m_style.foreground = extendedColor(numbers, i);
        else if (n == 48)
            m_style.background = extendedColor(numbers, i);
        else if (n == 39)
            m_style.foreground = 0;
        else if (n == 49)
            m_style.background = 0;
    }
}

AnsiColors ansiColors(const AnsiStyle& style, const Tokens& tokens)
{
    AnsiColors colors{namedColor(style.foreground, tokens), namedColor(style.background, tokens)};
    if (!colors.front.isValid())
        colors.front = tokens.text;
    const auto& on = colors.back.isValid() ? colors.back : tokens.sunken;
    // A program does not know our colours; pull its own towards what reads there until it can be read.
    const QColor dark(Qt::black);
    const QColor light(Qt::white);
    const auto clear = !colors.back.isValid()      ? tokens.text
        : contrast(dark, on) > contrast(light, on) ? dark
                                                   : light;
    for (int step = 0; step < 8 && contrast(colors.front, on) < 4.5; ++step)
        colors.front = step == 7 ? clear : mixed(colors.front, clear, 0.25);
    return colors;
}

} // namespace gb::ui
