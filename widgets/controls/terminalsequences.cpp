// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <charconv>

#include "terminalscreen.h"

namespace gb::ui {
namespace {

constexpr int largestParameter = 9'999;

std::vector<int> readParameters(std::string_view text)
{
    std::vector<int> numbers;
    if (!text.empty() && (text.front() < '0' || text.front() > ';'))
        text.remove_prefix(1);
    while (!text.empty() || numbers.empty()) {
        const auto end = std::min(text.find_first_of(";:"), text.size());
        int number = -1; // left out
        std::from_chars(text.data(), text.data() + end, number);
        numbers.push_back(std::min(number, largestParameter));
        if (end == text.size())
            break;
        text.remove_prefix(end + 1);
    }
    return numbers;
}

} // namespace

int TerminalScreen::parameter(std::size_t index, int fallback) const
{
    return index < m_numbers.size() && m_numbers[index] > 0 ? m_numbers[index] : fallback;
}

void TerminalScreen::csi(char final)
{
    m_numbers = readParameters(m_parameters);
    const bool isPrivate = m_parameters.starts_with('?');
    if (!m_parameters.empty() && !isPrivate && (m_parameters.front() < '0' || m_parameters.front() > ';'))
        return; // another family of sequences
    const int count = parameter(0, 1);
    switch (final) {
    case 'A':
        return moveTo(std::max(m_row - count, m_row >= m_top ? m_top : 0), cursorColumn());
    case 'B':
    case 'e':
        return moveTo(std::min(m_row + count, m_row <= m_bottom ? m_bottom : m_rows - 1), cursorColumn());
    case 'C':
    case 'a':
        return moveTo(m_row, cursorColumn() + count);
    case 'D':
        return moveTo(m_row, cursorColumn() - count);
    case 'E':
        return moveTo(m_row + count, 0);
    case 'F':
        return moveTo(m_row - count, 0);
    case 'G':
    case '`':
        return moveTo(m_row, count - 1);
    case 'd':
        return moveTo(count - 1, cursorColumn());
    case 'H':
    case 'f':
        return moveTo(count - 1, parameter(1, 1) - 1);
    case 'J':
        return eraseInScreen(parameter(0, 0));
    case 'K':
        return eraseInLine(parameter(0, 0));
    case 'X':
        return eraseCells(m_row, cursorColumn(), cursorColumn() + count);
    case '@':
        return shiftCells(count, true);
    case 'P':
        return shiftCells(count, false);
    case 'S':
        return scrollUp(count);
    case 'T':
        return scrollDown(count);
    case 'b':
        for (int i = 0; i < std::min(count, m_columns * m_rows); ++i)
            put(m_last);
        return;
    case 'm':
        return isPrivate ? void() : style();
    case 'h':
        return isPrivate ? mode(true) : void();
    case 'l':
        return isPrivate ? mode(false) : void();
    case 's':
        return saveCursor();
    case 'u':
        return restoreCursor();
    case 'c':
        m_replies += "\x1b[?6c";
        return;
    default:
        break;
    }
    if (final == 'n' && parameter(0, 0) == 5) {
        m_replies += "\x1b[0n";
    } else if (final == 'n' && parameter(0, 0) == 6) {
        m_replies += "\x1b[" + std::to_string(m_row + 1) + ";" + std::to_string(cursorColumn() + 1) + "R";
    } else if (final == 'r' && !isPrivate) {
        m_top = std::min(count, m_rows) - 1;
        m_bottom = std::min(parameter(1, m_rows), m_rows) - 1;
        if (m_top >= m_bottom) {
            m_top = 0;
            m_bottom = m_rows - 1;
        }
        moveTo(0, 0);
    } else if ((final == 'L' || final == 'M') && m_row >= m_top && m_row <= m_bottom) {
        // Lines are inserted and deleted by scrolling what is below the cursor.
        const auto top = std::exchange(m_top, m_row);
        const bool alternate = std::exchange(m_alternate, true); // nothing goes to the past
        final == 'L' ? scrollDown(count) : scrollUp(count);
        m_alternate = alternate;
        m_top = top;
        m_column = 0;
    }
}

void TerminalScreen::mode(bool on)
{
    for (const int number : m_numbers) {
        switch (number) {
        case 1:
            m_applicationCursor = on;
            break;
        case 7:
            m_wraps = on;
            break;
        case 25:
            m_cursorShown = on;
            break;
        case 47:
        case 1047:
        case 1049:
            useAlternate(on);
            break;
        case 2004:
            m_bracketedPaste = on;
            break;
        default:
            break;
        }
    }
}

std::size_t TerminalScreen::extendedColor(std::size_t at, std::uint32_t& color) const
{
    const auto number = [this](std::size_t i) { return static_cast<std::uint32_t>(parameter(i, 0)) & 0xffU; };
    if (parameter(at + 1, 0) == 5) {
        color = number(at + 2) + 17;
        return at + 2;
    }
    if (parameter(at + 1, 0) == 2) {
        color = 0x1000000U | (number(at + 2) << 16U) | (number(at + 3) << 8U) | number(at + 4);
        return at + 4;
    }
    return at;
}

void TerminalScreen::style()
{
    for (std::size_t i = 0; i < m_numbers.size(); ++i) {
        const int number = std::max(0, m_numbers[i]);
        const auto shade = static_cast<std::uint32_t>(number % 10);
        if (number == 0) {
            m_style = {};
            m_inverse = false;
        } else if (number == 1) {
            m_style.bold = true;
        } else if (number == 2) {
            m_style.faint = true;
        } else if (number == 3) {
            m_style.italic = true;
        } else if (number == 4) {
            m_style.underline = true;
        } else if (number == 7) {
            m_inverse = true;
        } else if (number == 22) {
            m_style.bold = m_style.faint = false;
        } else if (number == 23) {
            m_style.italic = false;
        } else if (number == 24) {
            m_style.underline = false;
        } else if (number == 27) {
            m_inverse = false;
        } else if (number == 38) {
            i = extendedColor(i, m_style.foreground);
        } else if (number == 48) {
            i = extendedColor(i, m_style.background);
        } else if (number >= 30 && number <= 39) {
            m_style.foreground = number == 39 ? 0 : shade + 1;
        } else if (number >= 40 && number <= 49) {
            m_style.background = number == 49 ? 0 : shade + 1;
        } else if (number >= 90 && number <= 97) {
            m_style.foreground = shade + 9;
        } else if (number >= 100 && number <= 107) {
            m_style.background = shade + 9;
        }
    }
}

} // namespace gb::ui
