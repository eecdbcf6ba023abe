// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "terminalscreen.h"

#include <algorithm>
#include <utility>

namespace gb::ui {
namespace {

constexpr std::size_t keptLines = 10'000;
constexpr std::size_t longestSequence = 256;
constexpr int largestGrid = 1'000;
constexpr int tabWidth = 8;

// How many cells a character takes: none for marks that combine, two for wide scripts and pictures.
int cellsOf(char32_t c)
{
    struct Range
    {
        char32_t from, to;
        int cells;
    };
    static constexpr Range ranges[] = {{0x300, 0x36f, 0}, {0x1100, 0x115f, 2}, {0x200b, 0x200f, 0},
        {0x20d0, 0x20ff, 0}, {0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},
        {0xfe00, 0xfe0f, 0}, {0xfe30, 0xfe6f, 2}, {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2},
        {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2}};
    for (const auto& range : ranges)
        if (c >= range.from && c <= range.to)
            return range.cells;
    return 1;
}

void appendUtf8(std::string& out, char32_t c)
{
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0 | (c >> 6));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xe0 | (c >> 12));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | (c >> 18));
        out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
        out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    }
}

} // namespace

TerminalScreen::TerminalScreen(int rows, int columns)
    : m_rows(std::clamp(rows, 1, largestGrid)), m_columns(std::clamp(columns, 2, largestGrid)),
      m_bottom(m_rows - 1),
      m_screen(static_cast<std::size_t>(m_rows), Line(static_cast<std::size_t>(m_columns)))
{ }

const TerminalScreen::Line& TerminalScreen::line(int index) const
{
    const auto past = static_cast<int>(m_past.size());
    return index < past ? m_past[static_cast<std::size_t>(index)]
                        : m_screen[static_cast<std::size_t>(index - past)];
}

std::string TerminalScreen::text(int index) const
{
    std::string out;
    for (const auto& cell : line(index))
        if (!cell.covered)
            appendUtf8(out, cell.character);
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
}

void TerminalScreen::write(std::string_view bytes)
{
    for (const char byte : bytes)
        take(static_cast<unsigned char>(byte));
}

void TerminalScreen::clear()
{
    const auto rows = m_rows;
    const auto columns = m_columns;
    *this = TerminalScreen(rows, columns);
}

void TerminalScreen::resize(int rows, int columns)
{
    rows = std::clamp(rows, 1, largestGrid);
    columns = std::clamp(columns, 2, largestGrid);
    if (rows == m_rows && columns == m_columns)
        return;
    // Lines above the cursor leave at the top, as many as no longer fit.
    const int leaving = std::max(0, m_row - rows + 1);
    for (int i = 0; i < leaving && !m_alternate; ++i)
        m_past.push_back(m_screen[static_cast<std::size_t>(i)]);
    m_screen.erase(m_screen.begin(), m_screen.begin() + leaving);
    m_row -= leaving;
    m_rows = rows;
    m_columns = columns;
    for (auto* screen : {&m_screen, &m_other}) {
        if (screen == &m_other && !m_alternate)
            continue;
        screen->resize(static_cast<std::size_t>(rows));
        for (auto& each : *screen)
            each.resize(static_cast<std::size_t>(columns));
    }
    m_top = 0;
    m_bottom = m_rows - 1;
    moveTo(m_row, m_column);
}

void TerminalScreen::take(unsigned char byte)
{
    switch (m_state) {
    case State::Ground:
        if (byte < 0x20 || byte == 0x7f)
            control(byte);
        else
            decode(byte);
        return;
    case State::Escape:
        m_state = State::Ground;
        return escape(byte);
    case State::Charset:
        m_state = State::Ground;
        return;
    case State::Csi:
        if (byte < 0x20)
            return control(byte);
        if (byte >= 0x40 && byte <= 0x7e) {
            m_state = State::Ground;
            return csi(static_cast<char>(byte));
        }
        if (m_parameters.size() < longestSequence)
            m_parameters += static_cast<char>(byte);
        return;
    case State::Text: // titles and the like: read to their end and dropped
        if (byte == 0x07 || byte == 0x18)
            m_state = State::Ground;
        else if (byte == 0x1b)
            m_state = State::TextEscape;
        return;
    case State::TextEscape:
        m_state = byte == '\\' ? State::Ground : State::Text;
        return;
    }
}

void TerminalScreen::control(unsigned char byte)
{
    switch (byte) {
    case '\r':
        m_column = 0;
        break;
    case '\n':
    case 0x0b:
    case 0x0c:
        lineFeed();
        break;
    case '\b':
        m_column = std::max(0, cursorColumn() - 1);
        break;
    case '\t':
        m_column = std::min(m_columns - 1, (cursorColumn() / tabWidth + 1) * tabWidth);
        break;
    case 0x1b:
        m_state = State::Escape;
        m_partialLeft = 0;
        break;
    case 0x18:
    case 0x1a:
        m_state = State::Ground;
        break;
    default:
        break;
    }
}

void TerminalScreen::escape(unsigned char byte)
{
    switch (byte) {
    case '[':
        m_state = State::Csi;
        m_parameters.clear();
        break;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        m_state = State::Text;
        break;
    case '(':
    case ')':
    case '*':
    case '+':
    case '#':
    case ' ':
        m_state = State::Charset;
        break;
    case '7':
        saveCursor();
        break;
    case '8':
        restoreCursor();
        break;
    case 'D':
        lineFeed();
        break;
    case 'E':
        m_column = 0;
        lineFeed();
        break;
    case 'M':
        reverseLineFeed();
        break;
    case 'c':
        clear();
        break;
    default:
        break;
    }
}

void TerminalScreen::decode(unsigned char byte)
{
    if (byte < 0x80) {
        m_partialLeft = 0;
        return put(byte);
    }
    if (byte < 0xc0) {
        if (m_partialLeft == 0)
            return put(U'\ufffd');
        m_partial = (m_partial << 6) | (byte & 0x3fU);
        if (--m_partialLeft == 0)
            put(m_partial > 0x10ffff || m_partial < 0xa0 ? U'\ufffd' : m_partial);
        return;
    }
    m_partialLeft = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    m_partial = byte & (byte >= 0xf0 ? 0x07U : byte >= 0xe0 ? 0x0fU : 0x1fU);
}

TerminalScreen::Cell TerminalScreen::blank() const
{
    Cell cell;
    cell.style.background = m_style.background;
    return cell;
}

void TerminalScreen::put(char32_t character)
{
    const int cells = cellsOf(character);
    if (cells == 0)
        return;
    if (m_column + cells > m_columns) {
        if (m_wraps) {
            m_column = 0;
            lineFeed();
        } else {
            m_column = m_columns - cells;
        }
    }
    m_last = character;
    auto& cell = row(m_row)[static_cast<std::size_t>(m_column)];
    cell = Cell{character, m_style, m_inverse, false};
    if (cells == 2)
        row(m_row)[static_cast<std::size_t>(m_column) + 1] = Cell{U' ', m_style, m_inverse, true};
    m_column += cells;
}

void TerminalScreen::lineFeed()
{
    if (m_row == m_bottom)
        scrollUp(1);
    else
        m_row = std::min(m_row + 1, m_rows - 1);
}

void TerminalScreen::reverseLineFeed()
{
    if (m_row == m_top)
        scrollDown(1);
    else
        m_row = std::max(m_row - 1, 0);
}

void TerminalScreen::scrollUp(int count)
{
    for (int i = std::min(count, m_bottom - m_top + 1); i > 0; --i) {
        const auto top = m_screen.begin() + m_top;
        if (m_top == 0 && !m_alternate) {
            m_past.push_back(std::move(*top));
            if (m_past.size() > keptLines)
                m_past.pop_front();
        }
        m_screen.erase(top);
        m_screen.insert(m_screen.begin() + m_bottom, blankLine());
    }
}

void TerminalScreen::scrollDown(int count)
{
    for (int i = std::min(count, m_bottom - m_top + 1); i > 0; --i) {
        m_screen.erase(m_screen.begin() + m_bottom);
        m_screen.insert(m_screen.begin() + m_top, blankLine());
    }
}

void TerminalScreen::eraseCells(int at, int from, int to)
{
    auto& cells = row(at);
    std::fill(cells.begin() + std::clamp(from, 0, m_columns), cells.begin() + std::clamp(to, 0, m_columns),
        blank());
}

void TerminalScreen::eraseInLine(int how)
{
    eraseCells(m_row, how == 0 ? cursorColumn() : 0, how == 1 ? cursorColumn() + 1 : m_columns);
}

void TerminalScreen::eraseInScreen(int how)
{
    if (how == 3) {
        m_past.clear();
        return;
    }
    if (how != 2)
        eraseInLine(how);
    const int from = how == 0 ? m_row + 1 : 0;
    const int to = how == 1 ? m_row : m_rows;
    for (int i = from; i < to; ++i)
        eraseCells(i, 0, m_columns);
}

void TerminalScreen::shiftCells(int count, bool right)
{
    auto& cells = row(m_row);
    const int at = cursorColumn();
    count = std::min(count, m_columns - at);
    const auto here = cells.begin() + at;
    if (right) {
        std::move_backward(here, cells.end() - count, cells.end());
        std::fill(here, here + count, blank());
    } else {
        std::move(here + count, cells.end(), here);
        std::fill(cells.end() - count, cells.end(), blank());
    }
}

void TerminalScreen::moveTo(int toRow, int toColumn)
{
    m_row = std::clamp(toRow, 0, m_rows - 1);
    m_column = std::clamp(toColumn, 0, m_columns - 1);
}

void TerminalScreen::saveCursor()
{
    m_saved = {m_row, cursorColumn(), m_style, m_inverse};
}

void TerminalScreen::restoreCursor()
{
    moveTo(m_saved.row, m_saved.column);
    m_style = m_saved.style;
    m_inverse = m_saved.inverse;
}

void TerminalScreen::useAlternate(bool on)
{
    if (on == m_alternate)
        return;
    m_alternate = on;
    if (on) {
        saveCursor();
        m_savedMain = m_saved;
        m_other = std::exchange(m_screen,
            std::vector<Line>(static_cast<std::size_t>(m_rows), Line(static_cast<std::size_t>(m_columns))));
    } else {
        m_screen = std::exchange(m_other, {});
        m_saved = m_savedMain;
        restoreCursor();
    }
    m_top = 0;
    m_bottom = m_rows - 1;
}

} // namespace gb::ui
