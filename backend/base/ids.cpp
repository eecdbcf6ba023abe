// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "ids.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

#include "clock.h"

namespace gb {
namespace {

template <std::size_t N>
std::array<std::uint8_t, N> randomBytes()
{
    std::array<std::uint8_t, N> bytes{};
    // Up to 256 bytes getrandom neither fails nor returns short once the pool is seeded.
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        std::abort();
    return bytes;
}

} // namespace

std::string newId()
{
    // Ids are no secrets, only different: one request to the kernel serves sixteen of them.
    constexpr std::size_t size = 16;
    thread_local std::array<std::uint8_t, 16 * size> random{};
    thread_local std::size_t used = random.size();
    if (used == random.size()) {
        random = randomBytes<16 * size>();
        used = 0;
    }
    std::array<std::uint8_t, size> bytes{};
    std::copy_n(random.begin() + static_cast<std::ptrdiff_t>(used), size, bytes.begin());
    used += size;
    const auto now = static_cast<std::uint64_t>(wallMs());
    for (int i = 0; i < 6; ++i)
        bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(now >> (40 - 8 * i));
    bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x70);
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);

    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(36);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text += digits[bytes[i] >> 4];
        text += digits[bytes[i] & 15];
    }
    return text;
}

bool isId(std::string_view text)
{
    if (text.size() != 36)
        return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-'
                 : !((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    }
    return true;
}

std::string newToken()
{
    static constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text;
    // 43 characters of six random bits each; a byte has two to spare, which does not bias the other six.
    for (const std::uint8_t byte : randomBytes<43>())
        text += alphabet[byte & 63];
    return text;
}

bool sameSecret(std::string_view a, std::string_view b)
{
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const char other = b.empty() ? '\0' : b[i % b.size()];
        difference |=
            static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other));
    }
    return difference == 0;
}

} // namespace gb
