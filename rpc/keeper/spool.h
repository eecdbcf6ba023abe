// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <memory>
#include <string>

#include <backend/base/fd.h>
#include <backend/base/files.h>
#include <rpc/protocol/frame.h>

#include "record.h"

namespace gb::rpc {

// Records on disk while nobody has stored them elsewhere: files `<first seq>.seg` that hold the very frames
// the control link carries (`keeper.record` notifications), and a file `acked` with the last number somebody
// has stored durably. Written without syncing: they survive the end of every process, not of the machine.
class Spool
{
public:
    static constexpr std::size_t defaultMostBytes = 1ULL << 30U;

    // Takes up what an earlier host with this folder left; a torn last frame is cut off.
    static Result<std::unique_ptr<Spool>> open(
        const fs::path& folder, std::size_t mostBytes = defaultMostBytes);

    std::uint64_t nextSeq() const { return m_next; }
    // Under nextSeq(). Where there is no room ("spool.full", "io.…") nothing has changed and it may be tried
    // again.
    Result<Frame> append(const RecordText& record);
    // The stored frame, or nothing when seq is acknowledged or not written yet.
    Result<std::optional<Frame>> read(std::uint64_t seq) const;
    std::uint64_t firstKept() const { return m_firstIndexed; }
    void acknowledge(std::uint64_t seq);

private:
    struct Segment
    {
        fs::path path;
        UniqueFd fd;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::size_t size = 0;
    };
    struct Entry
    {
        std::size_t offset = 0;
        std::uint32_t json = 0;
        std::uint32_t attachment = 0;
    };

    Spool(fs::path folder, std::size_t mostBytes);

    Status recover();
    Status recoverSegment(const fs::path& path);
    Result<Segment*> current();
    const Segment* segmentOf(std::uint64_t seq) const;

    fs::path m_folder;
    std::size_t m_mostBytes;
    std::size_t m_segmentSize;
    std::size_t m_bytes = 0; // of all segments
    UniqueFd m_acked;
    std::uint64_t m_ackedSeq = 0;
    std::uint64_t m_next = 1;
    std::uint64_t m_firstIndexed = 1;
    std::deque<Entry> m_index; // of m_firstIndexed, m_firstIndexed + 1, …
    std::deque<Segment> m_segments;
};

} // namespace gb::rpc
