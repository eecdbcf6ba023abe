// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "filedownload.h"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <backend/base/clock.h>

#include "filedownload_p.h"

namespace gb::transfer {
namespace {

constexpr std::uint64_t longestRun = 64ULL << 20U;
constexpr std::uint64_t progressBytes = 256U << 10U; // what counts as progress after a failure

std::int64_t fromMs(int milliseconds)
{
    return std::int64_t{milliseconds} * 1'000'000;
}

// Only the bytes that were asked for: a cache in between that answers 200, or other bytes, is found out
// before anything is written.
class RangeCheck final : public Check
{
public:
    RangeCheck(std::optional<ByteRange> range, std::uint64_t size) : m_range(range), m_size(size) { }

    Status head(const Response& response) override
    {
        if (!m_range)
            return whole(response);
        if (response.status != 206)
            return gb::fail("net.no_ranges", "the server does not send parts of files");
        const std::string total = "/" + std::to_string(m_size);
        const std::string expected =
            "bytes " + std::to_string(m_range->first) + "-" + std::to_string(m_range->last) + total;
        const std::string came = response.header("Content-Range");
        // Another total is another file; asking again would not change it.
        if (came.find('/') != std::string::npos && !came.ends_with("/*") && !came.ends_with(total))
            return gb::fail("net.wrong_size",
                "the server has another file: " + came.substr(0, 80) + " instead of " + expected);
        if (came != expected)
            return gb::fail("net.wrong_range",
                "the server sent \"" + came.substr(0, 80) + "\" instead of \"" + expected + "\"");
        return {};
    }

private:
    Status whole(const Response& response) const
    {
        const std::string length = response.header("Content-Length");
        if (response.status != 200 || (!length.empty() && length != std::to_string(m_size)))
            return gb::fail("net.wrong_size",
                "the server has " + length.substr(0, 30) + " bytes instead of " + std::to_string(m_size));
        return {};
    }

    std::optional<ByteRange> m_range;
    std::uint64_t m_size;
};

Status writeAt(int fd, std::string_view bytes, std::uint64_t offset, const fs::path& path)
{
    while (!bytes.empty()) {
        const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failErrno("cannot write", path.string(), errno);
        bytes.remove_prefix(static_cast<std::size_t>(n));
        offset += static_cast<std::uint64_t>(n);
    }
    return {};
}

} // namespace

FileDownload::Private::Private(Downloader& downloader, FileSpec spec, FileOptions options)
    : m_downloader(downloader), m_spec(std::move(spec)), m_options(options), m_pieces(Layout::of(m_spec.size))
{ }

void FileDownload::Private::start(Done done)
{
    m_downloader.engine.post([self = shared_from_this(), done = std::move(done)]() mutable {
        self->m_done = std::move(done);
        if (self->isEnding())
            return self->settle();
        self->m_opening = true;
        self->m_downloader.workers.post([self] {
            auto opened = std::make_shared<Result<Opened>>(self->open());
            self->m_downloader.engine.post([self, opened] { self->opened(std::move(*opened)); });
        });
    });
}

void FileDownload::Private::cancel()
{
    m_abort = true;
    m_downloader.engine.post([self = shared_from_this()] { self->fail({"cancelled", "cancelled"}); });
}

void FileDownload::Private::abandon()
{
    m_abort = true;
    m_downloader.engine.post([self = shared_from_this()] {
        self->m_done = nullptr;
        self->fail({"cancelled", "cancelled"});
    });
}

FileDownload::Progress FileDownload::Private::progress() const
{
    const std::lock_guard lock(m_troubleMutex);
    return {
        std::min<std::uint64_t>(m_bytes, m_spec.size), m_hashedBytes, m_lastByteNs, m_connections, m_trouble};
}

void FileDownload::Private::setTrouble(std::optional<Error> error)
{
    const std::lock_guard lock(m_troubleMutex);
    m_trouble = std::move(error);
}

auto FileDownload::Private::open() const -> Result<Opened>
{
    Opened opened;
    opened.fd.reset(::open(m_spec.partial.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!opened.fd.valid())
        return failErrno("cannot open", m_spec.partial.string(), errno);
    auto record = PieceRecord::open(m_spec.record, m_spec.digest, m_pieces.layout());
    if (!record)
        return gb::fail(record.error());
    struct stat info
    { };
    ::fstat(opened.fd.get(), &info);
    // A record without its bytes is about another file.
    if (static_cast<std::uint64_t>(info.st_size) != m_spec.size) {
        GB_TRY(record->clear());
        if (::ftruncate(opened.fd.get(), 0) != 0
            || ::ftruncate(opened.fd.get(), static_cast<off_t>(m_spec.size)) != 0)
            return failErrno("cannot make room in", m_spec.partial.string(), errno);
    }
    opened.record = std::move(*record);
    return opened;
}

void FileDownload::Private::opened(Result<Opened> opened)
{
    m_opening = false;
    if (isEnding())
        return settle();
    if (!opened)
        return fail(opened.error());
    m_fd = std::move(opened->fd);
    m_record = std::move(opened->record);
    m_digest = std::make_unique<Digest>(m_spec.kind, m_spec.size);
    for (std::size_t piece = 0; piece < m_record->pieces().size(); ++piece) {
        if (m_record->pieces()[piece]) {
            m_pieces.setWritten(piece);
            ++m_recorded;
        }
    }
    m_bytes = m_pieces.writtenBytes();
    hashSoon();
    pump();
}

void FileDownload::Private::pump()
{
    if (isEnding() || m_opening || m_pieces.isComplete() || monotonicNs() < m_retryAtNs)
        return;
    const int most = m_ranges ? m_options.connections : 1;
    while (static_cast<int>(m_fetching.size()) < most && m_pieces.freeBytes() > 0) {
        if (!m_downloader.budget.take())
            return m_downloader.budget.wait(weak_from_this());
        // Runs shrink towards the end, so that all connections end together and none is left with a long
        // rest.
        const std::uint64_t share = m_pieces.freeBytes() / (2 * static_cast<std::uint64_t>(most));
        if (m_ranges)
            startFetching(*m_pieces.take(std::min(share, longestRun)), false);
        else
            startFetching(m_pieces.takeAll(), true);
    }
}

void FileDownload::Private::startFetching(PieceMap::Run run, bool whole)
{
    const auto fetching = std::make_shared<Fetching>();
    fetching->run = run;
    fetching->round = m_mismatches;
    fetching->reached = run.offset;
    fetching->end = m_pieces.layout().end(run.last);
    fetching->whole = whole || (run.offset == 0 && fetching->end == m_spec.size);
    if (whole)
        m_bytes = m_pieces.writtenBytes();

    class RunSink final : public Sink
    {
    public:
        RunSink(std::shared_ptr<Private> owner, std::shared_ptr<Fetching> run)
            : m_owner(std::move(owner)), m_run(std::move(run))
        { }
        Status write(std::string_view bytes) override { return m_owner->wrote(*m_run, bytes); }

    private:
        std::shared_ptr<Private> m_owner;
        std::shared_ptr<Fetching> m_run;
    };

    Transfer transfer;
    transfer.request = requestFor(*fetching);
    transfer.sink = std::make_shared<RunSink>(shared_from_this(), fetching);
    transfer.checks = {std::make_shared<RangeCheck>(transfer.request.range, m_spec.size)};
    transfer.done = [self = shared_from_this(), fetching](
                        Result<Response> outcome) { self->fetched(fetching, std::move(outcome)); };
    m_fetching.insert(fetching);
    m_connections = static_cast<int>(m_fetching.size());
    fetching->id = m_downloader.engine.start(std::move(transfer));
}

Request FileDownload::Private::requestFor(const Fetching& fetching) const
{
    Request request;
    request.url = m_direct.empty() ? m_spec.url : m_direct;
    request.headers = m_spec.headers;
    request.credential = m_spec.credential;
    request.stallMs = m_options.stallMs;
    if (!fetching.whole)
        request.range = ByteRange{fetching.reached, fetching.end - 1};
    return request;
}

Status FileDownload::Private::wrote(Fetching& fetching, std::string_view bytes)
{
    if (isEnding())
        return gb::fail("cancelled", "cancelled");
    if (bytes.size() > fetching.end - fetching.reached)
        return gb::fail("net.wrong_range", "the server sent more than was asked for");
    m_lastByteNs = monotonicNs();
    const Layout& layout = m_pieces.layout();
    while (!bytes.empty()) {
        const std::size_t piece = static_cast<std::size_t>(fetching.reached / layout.pieceBytes);
        const std::uint64_t pieceEnd = layout.end(piece);
        const auto part = bytes.substr(0, static_cast<std::size_t>(pieceEnd - fetching.reached));
        if (m_pieces.state(piece) != PieceMap::State::Written) {
            GB_TRY(writeAt(m_fd.get(), part, fetching.reached, m_spec.partial));
            m_bytes += part.size();
            m_sinceFailure += part.size();
        }
        fetching.reached += part.size();
        bytes.remove_prefix(part.size());
        if (fetching.reached == pieceEnd)
            pieceWritten(piece);
    }
    if (m_failures > 0 && m_sinceFailure >= progressBytes)
        m_failures = 0;
    return {};
}

void FileDownload::Private::fetched(const std::shared_ptr<Fetching>& fetching, Result<Response> outcome)
{
    m_fetching.erase(fetching);
    m_connections = static_cast<int>(m_fetching.size());
    if (fetching->round == m_mismatches)
        m_pieces.giveBack(fetching->run, fetching->whole && !m_ranges ? 0 : fetching->reached);
    // A body that ends early without an error: there was no length to compare with.
    if (outcome && outcome->isSuccess() && fetching->reached != fetching->end)
        outcome = gb::fail("net.cut", "the answer ended early");
    if (!isEnding())
        judge(std::move(outcome));
    m_downloader.budget.giveBack();
    if (isEnding())
        return settle();
    pump();
}

void FileDownload::Private::judge(Result<Response> outcome)
{
    if (outcome && outcome->isSuccess()) {
        m_failures = 0;
        m_retryAtNs = 0;
        setTrouble(std::nullopt);
        m_downloader.budget.succeeded();
        if (outcome->url != m_spec.url)
            m_direct = outcome->url;
        return;
    }
    if (outcome) {
        const int status = outcome->status;
        if (status == 429 || status == 503)
            m_downloader.budget.pushedBack();
        // A signed address runs out; the hub gives a new one.
        if (!isTransientStatus(status) && outcome->url != m_spec.url && ++m_refusedDirect <= 8) {
            m_direct.clear();
            return;
        }
        if (isTransientStatus(status))
            return tryAgain(statusError(*outcome), retryAfterMs(*outcome));
        return fail(statusError(*outcome));
    }
    const Error& error = outcome.error();
    if (error.code == "net.no_ranges" || (error.code == "net.wrong_range" && ++m_badRanges >= 4)) {
        m_ranges = false;
        return;
    }
    if (error.code == "net.unreachable")
        m_downloader.budget.pushedBack();
    if (isTransient(error))
        return tryAgain(error, 0);
    fail(error);
}

void FileDownload::Private::tryAgain(Error error, int atLeastMs)
{
    setTrouble(error);
    m_direct.clear();
    const std::int64_t now = monotonicNs();
    if (now < m_retryAtNs) { // one cause, felt by several connections
        m_retryAtNs = std::max(m_retryAtNs, now + fromMs(atLeastMs));
        return;
    }
    m_sinceFailure = 0;
    if (++m_failures >= m_options.retry.attempts)
        return fail(std::move(error));
    const int delay = std::max(retryDelayMs(m_options.retry, m_failures - 1), atLeastMs);
    m_retryAtNs = now + fromMs(delay);
    m_downloader.engine.after(delay + 1, [self = shared_from_this()] { self->pump(); });
}

void FileDownload::Private::fail(Error error)
{
    if (isEnding())
        return;
    m_outcome = gb::fail(std::move(error));
    m_abort = true;
    for (const auto& fetching : m_fetching)
        m_downloader.engine.cancel(fetching->id);
    settle();
}

void FileDownload::Private::settle()
{
    if (!isEnding() || m_opening || m_syncing || m_hashing || !m_fetching.empty())
        return;
    if (!m_unsynced.empty()) // what came is kept, however this ends
        return syncSoon();
    if (*m_outcome)
        setTrouble(std::nullopt);
    if (const auto done = std::exchange(m_done, nullptr))
        done(*m_outcome);
}

FileDownload::FileDownload(Downloader& downloader, FileSpec spec, FileOptions options)
    : d(std::make_shared<Private>(downloader, std::move(spec), options))
{ }

FileDownload::~FileDownload()
{
    d->abandon();
}

void FileDownload::start(Done done)
{
    d->start(std::move(done));
}

void FileDownload::cancel()
{
    d->cancel();
}

FileDownload::Progress FileDownload::progress() const
{
    return d->progress();
}

} // namespace gb::transfer
