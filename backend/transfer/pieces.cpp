// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "pieces.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace gb::transfer {
namespace {

constexpr std::uint64_t mebi = 1ULL << 20U;

bool readExactly(int fd, std::string& bytes, std::size_t offset)
{
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t n =
            ::pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(offset + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        have += static_cast<std::size_t>(n);
    }
    return true;
}

} // namespace

Layout Layout::of(std::uint64_t size)
{
    std::uint64_t piece = mebi;
    while (piece < 16 * mebi && size / piece > 1024)
        piece *= 2;
    return {size, piece};
}

std::uint64_t Layout::end(std::size_t piece) const
{
    return std::min(size, (piece + 1) * pieceBytes);
}

PieceMap::PieceMap(Layout layout) : m_layout(layout), m_states(layout.pieces(), State::Free) { }

void PieceMap::setWritten(std::size_t piece)
{
    if (m_states[piece] == State::Written)
        return;
    if (m_states[piece] == State::Taken)
        --m_taken;
    m_states[piece] = State::Written;
    ++m_written;
    m_writtenBytes += m_layout.end(piece) - m_layout.begin(piece);
    m_reached.erase(piece);
}

std::optional<PieceMap::Run> PieceMap::take(std::uint64_t maximalBytes)
{
    while (m_firstFree < m_states.size() && m_states[m_firstFree] != State::Free)
        ++m_firstFree;
    if (m_firstFree == m_states.size())
        return std::nullopt;
    Run run{m_firstFree, m_firstFree, m_layout.begin(m_firstFree)};
    if (const auto partly = m_reached.find(run.first); partly != m_reached.end())
        run.offset = partly->second;
    // A partly written piece ends a run: what follows it would be asked for twice.
    const auto mayJoin = [&](std::size_t piece) {
        return piece < m_states.size() && m_states[piece] == State::Free && !m_reached.contains(piece)
            && m_layout.end(piece) - run.offset <= maximalBytes;
    };
    while (mayJoin(run.last + 1))
        ++run.last;
    for (std::size_t piece = run.first; piece <= run.last; ++piece)
        m_states[piece] = State::Taken;
    m_taken += run.last - run.first + 1;
    return run;
}

PieceMap::Run PieceMap::takeAll()
{
    m_reached.clear();
    for (State& state : m_states) {
        if (state == State::Free) {
            state = State::Taken;
            ++m_taken;
        }
    }
    return {0, m_states.size() - 1, 0};
}

void PieceMap::giveBack(const Run& run, std::uint64_t reached)
{
    for (std::size_t piece = run.first; piece <= run.last; ++piece) {
        if (m_states[piece] != State::Taken)
            continue;
        m_states[piece] = State::Free;
        --m_taken;
        m_firstFree = std::min(m_firstFree, piece);
        if (reached > m_layout.begin(piece) && reached < m_layout.end(piece))
            m_reached[piece] = reached;
    }
}

void PieceMap::clear()
{
    *this = PieceMap(m_layout);
}

std::uint64_t PieceMap::freeBytes() const
{
    return (m_states.size() - m_written - m_taken) * m_layout.pieceBytes;
}

PieceRecord::PieceRecord(fs::path path, UniqueFd fd, std::string head, std::size_t pieces)
    : m_path(std::move(path)), m_fd(std::move(fd)), m_head(std::move(head)), m_pieces(pieces)
{ }

Result<PieceRecord> PieceRecord::open(const fs::path& path, const std::string& digest, Layout layout)
{
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd.valid())
        return failErrno("cannot open", path.string(), errno);
    std::string head = "glovebox-pieces 1 " + digest + " " + std::to_string(layout.size) + " "
        + std::to_string(layout.pieceBytes) + "\n";
    PieceRecord record(path, std::move(fd), std::move(head), layout.pieces());
    if (!record.load())
        GB_TRY(record.clear());
    return record;
}

bool PieceRecord::load()
{
    std::string text(m_head.size() + (m_pieces.size() + 7) / 8, '\0');
    struct stat info
    { };
    if (::fstat(m_fd.get(), &info) != 0 || info.st_size != static_cast<off_t>(text.size())
        || !readExactly(m_fd.get(), text, 0) || !text.starts_with(m_head))
        return false;
    for (std::size_t i = 0; i < m_pieces.size(); ++i)
        m_pieces[i] = (static_cast<unsigned char>(text[m_head.size() + i / 8]) >> (i % 8) & 1U) != 0;
    return true;
}

Status PieceRecord::clear()
{
    m_pieces.assign(m_pieces.size(), false);
    const std::string text = m_head + std::string((m_pieces.size() + 7) / 8, '\0');
    if (::ftruncate(m_fd.get(), 0) != 0
        || ::pwrite(m_fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
        return failErrno("cannot write", m_path.string(), errno);
    return {};
}

Status PieceRecord::add(const std::vector<std::size_t>& pieces)
{
    for (const std::size_t piece : pieces) {
        m_pieces[piece] = true;
        unsigned bits = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            const std::size_t other = piece / 8 * 8 + i;
            if (other < m_pieces.size() && m_pieces[other])
                bits |= 1U << i;
        }
        const char byte = static_cast<char>(bits);
        if (::pwrite(m_fd.get(), &byte, 1, static_cast<off_t>(m_head.size() + piece / 8)) != 1)
            return failErrno("cannot write", m_path.string(), errno);
    }
    return {};
}

} // namespace gb::transfer
