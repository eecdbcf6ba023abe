// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ansi.h"

namespace gb::ui {

// The text of a log: appended at the end, read by line. Blocks of 4096 lines keep a million lines cheap to
// find and cheap to grow. A carriage return inside a line starts the line again, as progress bars want it.
class LogDocument
{
public:
    struct StyleRun
    {
        std::uint32_t offset; // in the line
        AnsiStyle style;
    };
    struct Line
    {
        std::string_view text;
        std::vector<StyleRun> styles;
    };

    void append(std::string_view bytes);
    void clear();

    // An unfinished last line counts when it has text.
    std::int64_t lineCount() const;
    std::string_view text(std::int64_t line) const;
    Line line(std::int64_t line) const;
    std::int64_t longestLine() const { return m_longest; } // in bytes
    // From (and including) `from`, in steps of +1 or -1, at most `limit` lines; -1 when there is none.
    std::int64_t findLine(std::string_view needle, std::int64_t from, int step, std::int64_t limit) const;

private:
    static constexpr std::size_t linesPerBlock = 4096;
    struct Block
    {
        std::string text;
        std::vector<std::uint32_t> ends; // of each line in text
        std::vector<std::pair<std::uint32_t, AnsiStyle>> styles; // where in text a style begins
    };

    void appendText(std::string_view text, const AnsiStyle& style);
    void endLine();
    Block& open();

    AnsiParser m_parser;
    std::vector<std::unique_ptr<Block>> m_blocks;
    std::int64_t m_finished = 0;
    std::int64_t m_longest = 0;
    bool m_returned = false;
};

} // namespace gb::ui
