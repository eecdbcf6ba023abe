// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <QColor>

#include "tokens.h"

namespace gb::ui {

// What SGR sequences ask for; anything else a terminal would obey is dropped.
struct AnsiStyle
{
    // 0: default; 1 … 16: the sixteen names; 17 … 272: the 256 palette; else 0x1000000 | RGB.
    std::uint32_t foreground = 0;
    std::uint32_t background = 0;
    bool bold = false;
    bool faint = false;
    bool italic = false;
    bool underline = false;

    bool operator==(const AnsiStyle&) const = default;
};

struct AnsiPiece
{
    std::string_view text;
    AnsiStyle style;
};

// Cuts a stream of bytes into text with styles. Sequences cut in two by a read are put together again.
class AnsiParser
{
public:
    // The pieces point into the parser and into bytes; they are valid until the next call.
    const std::vector<AnsiPiece>& feed(std::string_view bytes);

private:
    void sequence(std::string_view parameters, char final);
    std::size_t escape(std::string_view bytes, std::size_t at, bool& incomplete);

    std::string m_joined;
    std::string m_pending;
    AnsiStyle m_style;
    std::vector<AnsiPiece> m_pieces;
};

struct AnsiColors
{
    QColor front;
    QColor back; // invalid: none of its own
};
// What is written can be read in either theme: on its own background, else on the sunken one.
AnsiColors ansiColors(const AnsiStyle& style, const Tokens& tokens);

} // namespace gb::ui
