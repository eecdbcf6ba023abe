// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// The part of a download that makes bytes durable and proves them. Both run on workers, one task of each kind
// per file at a time, so that the engine's thread neither waits for a disk nor computes a hash.

#include <algorithm>
#include <cerrno>

#include <sys/statvfs.h>

#include "filedownload_p.h"

namespace gb::transfer {
namespace {

constexpr std::size_t hashBuffer = 1U << 20U;
constexpr std::uint64_t hashAtOnce = 32ULL << 20U; // then another file's turn

Status roomIsLeft(int fd, std::uint64_t keepFree)
{
    struct statvfs info
    { };
    if (keepFree == 0 || ::fstatvfs(fd, &info) != 0)
        return {};
    const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
    if (free >= keepFree)
        return {};
    return fail("io.disk_full", "only " + std::to_string(free >> 20U) + " MiB are left on the disk",
        Json{{"free", free}, {"keep_free", keepFree}});
}

Status addRange(Digest& digest, int fd, std::uint64_t from, std::uint64_t to, const std::atomic<bool>& abort)
{
    std::string buffer(hashBuffer, '\0');
    while (from < to) {
        if (abort)
            return fail("cancelled", "cancelled");
        const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), to - from));
        const ssize_t n = ::pread(fd, buffer.data(), want, static_cast<off_t>(from));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return failErrno("cannot read back", "a download", n < 0 ? errno : EIO);
        digest.add({buffer.data(), static_cast<std::size_t>(n)});
        from += static_cast<std::uint64_t>(n);
    }
    return {};
}

} // namespace

void FileDownload::Private::pieceWritten(std::size_t piece)
{
    if (m_pieces.state(piece) == PieceMap::State::Written)
        return;
    m_pieces.setWritten(piece);
    m_unsynced.push_back(piece);
    syncSoon();
    hashSoon();
}

void FileDownload::Private::syncSoon()
{
    if (m_syncing || m_unsynced.empty())
        return;
    m_syncing = true;
    auto pieces = std::make_shared<std::vector<std::size_t>>(std::exchange(m_unsynced, {}));
    m_downloader.workers.post([self = shared_from_this(), pieces] {
        Status status;
        if (::fdatasync(self->m_fd.get()) != 0)
            status = failErrno("cannot store", self->m_spec.partial.string(), errno);
        if (status)
            status = self->m_record->add(*pieces);
        if (status)
            status = roomIsLeft(self->m_fd.get(), self->m_options.keepFree);
        self->m_downloader.engine.post([self, pieces, status] { self->synced(*pieces, status); });
    });
}

void FileDownload::Private::synced(const std::vector<std::size_t>& pieces, Status status)
{
    m_syncing = false;
    m_recorded += pieces.size();
    if (!status)
        m_unsynced.clear();
    if (isEnding())
        return settle();
    if (!status)
        return fail(std::move(status).error());
    syncSoon();
    checkDigest();
}

void FileDownload::Private::hashSoon()
{
    const Layout& layout = m_pieces.layout();
    while (m_prefix < layout.pieces() && m_pieces.state(m_prefix) == PieceMap::State::Written)
        ++m_prefix;
    const std::uint64_t available = m_prefix == 0 ? 0 : layout.end(m_prefix - 1);
    if (m_hashing || isEnding())
        return;
    if (m_hashedTo == available)
        return checkDigest();
    m_hashing = true;
    const std::uint64_t from = m_hashedTo;
    const std::uint64_t to = std::min(available, from + hashAtOnce);
    m_downloader.workers.post([self = shared_from_this(), from, to] {
        const Status status = addRange(*self->m_digest, self->m_fd.get(), from, to, self->m_abort);
        self->m_downloader.engine.post([self, to, status] { self->hashed(to, status); });
    });
}

void FileDownload::Private::hashed(std::uint64_t upTo, Status status)
{
    m_hashing = false;
    if (isEnding())
        return settle();
    if (!status)
        return fail(std::move(status).error());
    m_hashedTo = upTo;
    m_hashedBytes = upTo;
    hashSoon();
}

void FileDownload::Private::checkDigest()
{
    if (m_hashing || m_syncing || m_hashedTo != m_spec.size || m_recorded != m_pieces.layout().pieces())
        return;
    if (m_digest->hex() == m_spec.digest) {
        m_outcome = Status{};
        return settle();
    }
    // Which piece is wrong cannot be known, so all of them are fetched once more; then the source is to
    // blame.
    Error error{"net.hash_mismatch", "the content is not what the hub says it is"};
    if (Status cleared = m_record->clear(); !cleared)
        return fail(std::move(cleared).error());
    m_pieces.clear();
    m_recorded = 0;
    m_prefix = 0;
    m_hashedTo = 0;
    m_bytes = 0;
    m_hashedBytes = 0;
    m_digest = std::make_unique<Digest>(m_spec.kind, m_spec.size);
    if (++m_mismatches >= 2)
        return fail(std::move(error));
    setTrouble(std::move(error));
    m_direct.clear();
    // Called from the middle of a write when the last piece came; the next requests start from the event
    // loop.
    m_downloader.engine.post([self = shared_from_this()] { self->pump(); });
}

} // namespace gb::transfer
