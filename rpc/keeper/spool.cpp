// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "spool.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <sys/uio.h>

namespace gb::rpc {
namespace {

constexpr std::size_t largestSegment = 4U << 20U;

std::string segmentName(std::uint64_t first)
{
    std::string digits = std::to_string(first);
    return std::string(16 - std::min<std::size_t>(16, digits.size()), '0') + digits + ".seg";
}

} // namespace

// Only whole segments can be forgotten, so what may be kept is several of them.
Spool::Spool(fs::path folder, std::size_t mostBytes)
    : m_folder(std::move(folder)), m_mostBytes(mostBytes),
      m_segmentSize(std::min(largestSegment, mostBytes / 4))
{ }

Result<std::unique_ptr<Spool>> Spool::open(const fs::path& folder, std::size_t mostBytes)
{
    GB_TRY(ensurePrivateDir(folder));
    std::unique_ptr<Spool> spool(new Spool(folder, mostBytes));
    spool->m_acked.reset(::open((folder / "acked").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!spool->m_acked.valid())
        return failErrno("cannot open", (folder / "acked").string(), errno);
    char text[32] = {};
    if (::pread(spool->m_acked.get(), text, sizeof text - 1, 0) > 0)
        spool->m_ackedSeq = std::strtoull(text, nullptr, 10);
    GB_TRY(spool->recover());
    return spool;
}

Status Spool::recover()
{
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(m_folder, error)) {
        if (entry.path().extension() == ".seg")
            found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    m_next = m_firstIndexed = m_ackedSeq + 1;
    if (!found.empty())
        m_next = m_firstIndexed = std::strtoull(found.front().stem().c_str(), nullptr, 10);
    for (const fs::path& path : found)
        GB_TRY(recoverSegment(path));
    m_next = std::max(m_next, m_ackedSeq + 1);
    acknowledge(m_ackedSeq);
    return {};
}

Status Spool::recoverSegment(const fs::path& path)
{
    Segment segment;
    segment.path = path;
    segment.first = m_next;
    segment.last = m_next - 1;
    segment.fd.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!segment.fd.valid())
        return failErrno("cannot open", path.string(), errno);
    const auto size = static_cast<std::size_t>(std::max<off_t>(0, ::lseek(segment.fd.get(), 0, SEEK_END)));
    char header[frameHeaderSize];
    while (::pread(segment.fd.get(), header, sizeof header, static_cast<off_t>(segment.size))
        == static_cast<ssize_t>(sizeof header)) {
        const FrameSizes sizes = decodeFrameHeader(header);
        const Entry entry{segment.size, sizes.json, sizes.attachment};
        const std::size_t end = entry.offset + frameHeaderSize + entry.json + entry.attachment;
        if (entry.json == 0 || end > size)
            break;
        m_index.push_back(entry);
        segment.size = end;
        segment.last = m_next++;
    }
    if (segment.size < size && ::ftruncate(segment.fd.get(), static_cast<off_t>(segment.size)) != 0)
        return failErrno("cannot cut", path.string(), errno);
    m_bytes += segment.size;
    m_segments.push_back(std::move(segment));
    return {};
}

Result<Spool::Segment*> Spool::current()
{
    if (!m_segments.empty() && m_segments.back().size < m_segmentSize)
        return &m_segments.back();
    Segment segment;
    segment.path = m_folder / segmentName(m_next);
    segment.first = m_next;
    segment.last = m_next - 1;
    segment.fd.reset(::open(segment.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!segment.fd.valid())
        return failErrno("cannot write", segment.path.string(), errno);
    m_segments.push_back(std::move(segment));
    return &m_segments.back();
}

Result<Frame> Spool::append(const RecordText& record)
{
    Frame frame;
    frame.json = R"({"jsonrpc":"2.0","method":"keeper.record","params":{"seq":)" + std::to_string(m_next)
        + ",\"record\":" + record.record;
    if (!record.attached.empty())
        frame.json += ",\"attached\":" + record.attached;
    frame.json += "}}";
    frame.attachment = record.attachment.view();
    std::string header = encodeFrameHeader(frame.json.size(), frame.attachment.size());
    iovec parts[3] = {{header.data(), header.size()}, {frame.json.data(), frame.json.size()},
        {frame.attachment.data(), frame.attachment.size()}};
    const std::size_t whole = header.size() + frame.json.size() + frame.attachment.size();
    if (m_bytes + whole > m_mostBytes)
        return fail("spool.full",
            "the records that nobody has fetched take " + std::to_string(m_bytes >> 20U) + " of "
                + std::to_string(m_mostBytes >> 20U) + " MiB");
    auto segment = current();
    if (!segment)
        return fail(segment.error());
    Segment& to = **segment;
    const ssize_t written = ::pwritev(to.fd.get(), parts, 3, static_cast<off_t>(to.size));
    if (written != static_cast<ssize_t>(whole))
        return failErrno("cannot write", to.path.string(), written < 0 ? errno : ENOSPC);
    if (m_index.empty())
        m_firstIndexed = m_next;
    m_index.push_back({to.size, static_cast<std::uint32_t>(frame.json.size()),
        static_cast<std::uint32_t>(frame.attachment.size())});
    to.size += whole;
    m_bytes += whole;
    to.last = m_next++;
    return frame;
}

const Spool::Segment* Spool::segmentOf(std::uint64_t seq) const
{
    const auto it = std::find_if(
        m_segments.begin(), m_segments.end(), [seq](const Segment& segment) { return seq <= segment.last; });
    return it == m_segments.end() ? nullptr : &*it;
}

Result<std::optional<Frame>> Spool::read(std::uint64_t seq) const
{
    const Segment* segment = segmentOf(seq);
    if (seq < m_firstIndexed || seq >= m_firstIndexed + m_index.size() || !segment)
        return std::nullopt;
    const Entry& entry = m_index[seq - m_firstIndexed];
    Frame frame;
    frame.json.resize(entry.json);
    frame.attachment.resize(entry.attachment);
    iovec parts[2] = {{frame.json.data(), entry.json}, {frame.attachment.data(), entry.attachment}};
    const ssize_t got =
        ::preadv(segment->fd.get(), parts, 2, static_cast<off_t>(entry.offset + frameHeaderSize));
    if (got != static_cast<ssize_t>(entry.json) + static_cast<ssize_t>(entry.attachment))
        return failErrno("cannot read", segment->path.string(), got < 0 ? errno : EIO);
    return frame;
}

void Spool::acknowledge(std::uint64_t seq)
{
    seq = std::min(seq, m_next - 1);
    while (!m_index.empty() && m_firstIndexed <= seq) {
        m_index.pop_front();
        ++m_firstIndexed;
    }
    // The segment being written goes only once it is worth making a new file.
    while (!m_segments.empty() && m_segments.front().last <= seq
        && (m_segments.size() > 1 || m_segments.front().size >= m_segmentSize / 4)) {
        std::error_code ignored;
        m_bytes -= m_segments.front().size;
        fs::remove(m_segments.front().path, ignored);
        m_segments.pop_front();
    }
    if (seq <= m_ackedSeq)
        return;
    m_ackedSeq = seq;
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%020llu\n", static_cast<unsigned long long>(seq));
    [[maybe_unused]] const auto ignored = ::pwrite(m_acked.get(), text, static_cast<std::size_t>(length), 0);
}

} // namespace gb::rpc
