// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <backend/base/fd.h>
#include <backend/base/files.h>

namespace gb::transfer {

// What a file consists of while it is being fetched.
struct Layout
{
    std::uint64_t size = 0;
    std::uint64_t pieceBytes = 0;

    static Layout of(std::uint64_t size); // 1 to 16 MiB, so that a large file has a few thousand pieces
    std::size_t pieces() const { return static_cast<std::size_t>((size + pieceBytes - 1) / pieceBytes); }
    std::uint64_t begin(std::size_t piece) const { return piece * pieceBytes; }
    std::uint64_t end(std::size_t piece) const;
};

// Which pieces are there, which are on their way. Not thread-safe.
class PieceMap
{
public:
    enum class State : std::uint8_t { Free, Taken, Written };
    struct Run
    {
        std::size_t first = 0;
        std::size_t last = 0; // inclusive
        std::uint64_t offset = 0; // of the first byte that is missing
    };

    explicit PieceMap(Layout layout);

    const Layout& layout() const { return m_layout; }
    State state(std::size_t piece) const { return m_states[piece]; }
    void setWritten(std::size_t piece);
    // The first gap's beginning, at most maximalBytes of it (but at least a piece); nothing when all are
    // taken.
    std::optional<Run> take(std::uint64_t maximalBytes);
    Run takeAll(); // for a server without ranges; bytes of pieces that are there are to be skipped
    // Gives back what a run did not finish; `reached` is where its bytes end, so that the next run goes on
    // there.
    void giveBack(const Run& run, std::uint64_t reached);
    void clear(); // nothing is there

    bool isComplete() const { return m_written == m_states.size(); }
    std::uint64_t freeBytes() const;
    std::uint64_t writtenBytes() const { return m_writtenBytes; }

private:
    Layout m_layout;
    std::vector<State> m_states;
    std::map<std::size_t, std::uint64_t> m_reached; // free pieces that are partly written
    std::size_t m_written = 0;
    std::size_t m_taken = 0;
    std::size_t m_firstFree = 0;
    std::uint64_t m_writtenBytes = 0;
};

// The side file beside a partial file: a line that names content and layout, then one bit per piece. A bit is
// set only after fdatasync of the piece, so a bit that survives a crash is true; a record for other content,
// another size or another layout counts as none.
class PieceRecord
{
public:
    static Result<PieceRecord> open(const fs::path& path, const std::string& digest, Layout layout);

    const std::vector<bool>& pieces() const { return m_pieces; }
    Status add(const std::vector<std::size_t>& pieces);
    Status clear();

private:
    PieceRecord(fs::path path, UniqueFd fd, std::string head, std::size_t pieces);
    bool load();

    fs::path m_path;
    UniqueFd m_fd;
    std::string m_head;
    std::vector<bool> m_pieces;
};

} // namespace gb::transfer
