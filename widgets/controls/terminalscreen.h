// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ansi.h"

namespace gb::ui {

// What a program writes to a terminal, as a grid of cells with what has scrolled out above it: enough of
// xterm for shells, editors and progress bars. Nothing it is told leaves it but answers about the cursor:
// titles, the clipboard and files are out of reach. (The packaged terminal widgets need Qt 5 or Qt 6.6.)
class TerminalScreen
{
public:
    struct Cell
    {
        char32_t character = U' ';
        AnsiStyle style;
        bool inverse = false;
        bool covered = false; // the second half of a wide character

        bool operator==(const Cell&) const = default;
    };
    using Line = std::vector<Cell>;

    TerminalScreen(int rows, int columns);

    void write(std::string_view bytes);
    void resize(int rows, int columns);
    void clear(); // as new, without what has scrolled out

    int rows() const { return m_rows; }
    int columns() const { return m_columns; }
    int cursorRow() const { return m_row; }
    int cursorColumn() const { return m_column < m_columns ? m_column : m_columns - 1; }
    bool cursorShown() const { return m_cursorShown; }
    bool applicationCursor() const { return m_applicationCursor; }
    bool bracketedPaste() const { return m_bracketedPaste; }
    bool onAlternate() const { return m_alternate; }
    // Lines that have scrolled out, then the rows of the screen.
    int lineCount() const { return static_cast<int>(m_past.size()) + m_rows; }
    int pastCount() const { return static_cast<int>(m_past.size()); }
    const Line& line(int index) const;
    std::string text(int index) const; // without blanks at the end
    // What the program asked the terminal, answered; to be sent to it.
    std::string takeReplies() { return std::exchange(m_replies, {}); }

private:
    enum class State { Ground, Escape, Charset, Csi, Text, TextEscape };

    void take(unsigned char byte);
    void control(unsigned char byte);
    void escape(unsigned char byte);
    void csi(char final);
    void style();
    std::size_t extendedColor(std::size_t at, std::uint32_t& color) const;
    void mode(bool on);
    void put(char32_t character);
    void decode(unsigned char byte);
    void lineFeed();
    void reverseLineFeed();
    void scrollUp(int count);
    void scrollDown(int count);
    void eraseInLine(int how);
    void eraseInScreen(int how);
    void eraseCells(int row, int from, int to);
    void shiftCells(int count, bool right);
    void moveTo(int row, int column);
    void useAlternate(bool on);
    void saveCursor();
    void restoreCursor();
    int parameter(std::size_t index, int fallback) const;
    Cell blank() const;
    Line blankLine() const { return Line(static_cast<std::size_t>(m_columns), blank()); }
    Line& row(int index) { return m_screen[static_cast<std::size_t>(index)]; }

    int m_rows;
    int m_columns;
    int m_row = 0;
    int m_column = 0; // may stand behind the last one until the next character
    int m_top = 0;
    int m_bottom;
    std::vector<Line> m_screen;
    std::vector<Line> m_other; // the main screen while the alternate one is shown
    std::deque<Line> m_past;
    AnsiStyle m_style;
    bool m_inverse = false;
    struct Saved
    {
        int row = 0;
        int column = 0;
        AnsiStyle style;
        bool inverse = false;
    };
    Saved m_saved, m_savedMain;
    State m_state = State::Ground;
    std::string m_parameters;
    std::vector<int> m_numbers;
    char32_t m_partial = 0;
    int m_partialLeft = 0;
    char32_t m_last = U' ';
    bool m_alternate = false;
    bool m_wraps = true;
    bool m_cursorShown = true;
    bool m_applicationCursor = false;
    bool m_bracketedPaste = false;
    std::string m_replies;
};

} // namespace gb::ui
