// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "jsontext.h"

#include <charconv>

#include <simdjson.h>

#include <backend/base/json.h>

namespace gb {
namespace {

void appendUtf8(std::string& out, unsigned code)
{
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | (code >> 6));
        out += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | (code >> 12));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | (code >> 18));
        out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
        out += static_cast<char>(0x80 | (code & 0x3F));
    }
}

bool hex4(std::string_view text, std::size_t at, unsigned& code)
{
    if (at + 4 > text.size())
        return false;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
    return error == std::errc() && end == text.data() + at + 4;
}

// `at` stands on the u of \uXXXX; gives back the position of its last character.
std::size_t appendUnicodeEscape(std::string& out, std::string_view json, std::size_t at)
{
    unsigned code = 0;
    if (!hex4(json, at + 1, code))
        return at;
    at += 4;
    unsigned low = 0;
    const bool high = code >= 0xD800 && code < 0xDC00;
    if (high && json.substr(at + 1, 2) == "\\u" && hex4(json, at + 3, low) && low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
    }
    if (code == 0 || (code >= 0xD800 && code < 0xE000))
        out += ' ';
    else
        appendUtf8(out, code);
    return at;
}

} // namespace

bool isJsonText(std::string_view text)
{
    thread_local simdjson::dom::parser parser;
    return parser.parse(text.data(), text.size(), true).error() == simdjson::SUCCESS;
}

std::string jsonString(std::string_view text)
{
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view cutText(std::string_view text, std::size_t limit)
{
    if (text.size() <= limit)
        return text;
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80)
        --limit;
    return text.substr(0, limit);
}

std::string readableJson(std::string_view json, std::size_t limit)
{
    std::string out;
    for (std::size_t i = 0; i < json.size() && out.size() < limit; ++i) {
        if (json[i] != '\\' || i + 1 == json.size()) {
            out += json[i];
            continue;
        }
        const char escape = json[++i];
        if (escape == 'u')
            i = appendUnicodeEscape(out, json, i);
        else if (escape == '"' || escape == '\\' || escape == '/')
            out += escape;
        else
            out += ' ';
    }
    return std::string(cutText(out, limit));
}

} // namespace gb
