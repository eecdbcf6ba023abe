// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "utf8.h"

#include <algorithm>
#include <iterator>

namespace gb::rpc {
namespace {

struct Range
{
    char32_t first;
    char32_t last;
};

constexpr Range invisibleRanges[] = {{0x00, 0x1F}, {0x7F, 0x9F}, {0xAD, 0xAD}, {0x034F, 0x034F},
    {0x061C, 0x061C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xD800, 0xF8FF}, {0xFDD0, 0xFDEF},
    {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0x10FFFF}};

constexpr Range letterRanges[] = {{0x00C0, 0x00D6}, {0x00D8, 0x00F6}, {0x00F8, 0x0131}, {0x0134, 0x013E},
    {0x0141, 0x0148}, {0x014A, 0x017E}, {0x0391, 0x03A1}, {0x03A3, 0x03CE}, {0x0401, 0x040C},
    {0x040E, 0x045C}, {0x045E, 0x0481}, {0x05D0, 0x05EA}, {0x0621, 0x063A}, {0x0641, 0x064A},
    {0x3041, 0x3096}, {0x30A1, 0x30FA}, {0x4E00, 0x9FA5}, {0xAC00, 0xD7A3}};

template <std::size_t N>
bool within(const Range (&ranges)[N], char32_t character)
{
    const auto next = std::upper_bound(std::begin(ranges), std::end(ranges), character,
        [](char32_t c, const Range& range) { return c < range.first; });
    return next != std::begin(ranges) && character <= std::prev(next)->last;
}

} // namespace

char32_t takeCharacter(std::string_view& text)
{
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0x80 ? 1
        : first < 0xC2                      ? 0
        : first < 0xE0                      ? 2
        : first < 0xF0                      ? 3
        : first < 0xF5                      ? 4
                                            : 0;
    char32_t character = length < 2 ? first : first & (0x7FU >> length);
    bool good = length > 0 && text.size() >= length;
    for (std::size_t i = 1; good && i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        good = (next & 0xC0U) == 0x80;
        character = (character << 6U) | (next & 0x3FU);
    }
    good = good && !(length == 3 && (character < 0x800 || (character >= 0xD800 && character <= 0xDFFF)))
        && !(length == 4 && (character < 0x10000 || character > 0x10FFFF));
    text.remove_prefix(good ? length : 1);
    return good ? character : U'\uFFFD';
}

void appendCharacter(std::string& out, char32_t character)
{
    const auto tail = [&out](char32_t bits) { out += static_cast<char>(0x80U | (bits & 0x3FU)); };
    if (character < 0x80) {
        out += static_cast<char>(character);
    } else if (character < 0x800) {
        out += static_cast<char>(0xC0U | (character >> 6U));
        tail(character);
    } else if (character < 0x10000) {
        out += static_cast<char>(0xE0U | (character >> 12U));
        tail(character >> 6U);
        tail(character);
    } else {
        out += static_cast<char>(0xF0U | (character >> 18U));
        tail(character >> 12U);
        tail(character >> 6U);
        tail(character);
    }
}

bool isInvisible(char32_t character)
{
    return within(invisibleRanges, character);
}

bool isStableLetter(char32_t character)
{
    return within(letterRanges, character);
}

} // namespace gb::rpc
