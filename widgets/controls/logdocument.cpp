// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "logdocument.h"

#include <algorithm>

namespace gb::ui {
namespace {

bool sameFolded(char a, char b)
{
    const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return fold(a) == fold(b);
}

} // namespace

void LogDocument::append(std::string_view bytes)
{
    for (const auto& piece : m_parser.feed(bytes)) {
        auto rest = piece.text;
        while (!rest.empty()) {
            const auto stop = rest.find_first_of("\r\n");
            if (stop != 0)
                appendText(rest.substr(0, stop), piece.style);
            if (stop == std::string_view::npos)
                break;
            if (rest[stop] == '\n')
                endLine();
            else
                m_returned = true;
            rest.remove_prefix(stop + 1);
        }
    }
}

void LogDocument::clear()
{
    *this = LogDocument();
}

LogDocument::Block& LogDocument::open()
{
    if (m_blocks.empty() || m_blocks.back()->ends.size() == linesPerBlock)
        m_blocks.push_back(std::make_unique<Block>());
    return *m_blocks.back();
}

void LogDocument::appendText(std::string_view text, const AnsiStyle& style)
{
    auto& block = open();
    const auto begin = block.ends.empty() ? 0U : block.ends.back();
    if (m_returned) {
        m_returned = false;
        block.text.resize(begin);
        while (!block.styles.empty() && block.styles.back().first >= begin)
            block.styles.pop_back();
    }
    const auto at = static_cast<std::uint32_t>(block.text.size());
    const auto current = block.styles.empty() ? AnsiStyle{} : block.styles.back().second;
    if (!(current == style))
        block.styles.emplace_back(at, style);
    block.text += text;
    m_longest = std::max<std::int64_t>(m_longest, static_cast<std::int64_t>(block.text.size() - begin));
}

void LogDocument::endLine()
{
    auto& block = open();
    block.ends.push_back(static_cast<std::uint32_t>(block.text.size()));
    m_returned = false;
    ++m_finished;
}

std::int64_t LogDocument::lineCount() const
{
    if (m_blocks.empty())
        return 0;
    const auto& last = *m_blocks.back();
    const auto begin = last.ends.empty() ? 0U : last.ends.back();
    return m_finished + (last.text.size() > begin ? 1 : 0);
}

std::string_view LogDocument::text(std::int64_t line) const
{
    const auto index = static_cast<std::size_t>(line) / linesPerBlock;
    if (line < 0 || index >= m_blocks.size())
        return {};
    const auto& block = *m_blocks[index];
    const auto within = static_cast<std::size_t>(line) % linesPerBlock;
    if (within > block.ends.size())
        return {};
    const auto begin = within == 0 ? 0U : block.ends[within - 1];
    const auto end = within < block.ends.size() ? block.ends[within] : block.text.size();
    return std::string_view(block.text).substr(begin, end - begin);
}

LogDocument::Line LogDocument::line(std::int64_t line) const
{
    Line out{text(line), {}};
    const auto index = static_cast<std::size_t>(line) / linesPerBlock;
    if (line < 0 || index >= m_blocks.size() || out.text.empty())
        return out;
    const auto& block = *m_blocks[index];
    const auto begin = static_cast<std::uint32_t>(out.text.data() - block.text.data());
    const auto end = begin + static_cast<std::uint32_t>(out.text.size());
    auto run = std::upper_bound(block.styles.begin(), block.styles.end(), begin,
        [](std::uint32_t at, const auto& style) { return at < style.first; });
    if (run != block.styles.begin())
        out.styles.push_back({0, std::prev(run)->second});
    for (; run != block.styles.end() && run->first < end; ++run)
        out.styles.push_back({run->first - begin, run->second});
    return out;
}

std::int64_t LogDocument::findLine(
    std::string_view needle, std::int64_t from, int step, std::int64_t limit) const
{
    const auto count = lineCount();
    for (auto line = from; line >= 0 && line < count && limit > 0; line += step, --limit) {
        const auto hay = text(line);
        if (std::search(hay.begin(), hay.end(), needle.begin(), needle.end(), sameFolded) != hay.end())
            return line;
    }
    return -1;
}

} // namespace gb::ui
