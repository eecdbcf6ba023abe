// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "fetch.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <backend/base/clock.h>

namespace gb::hub {
namespace {

using transfer::FileDownload;

constexpr auto betweenReports = std::chrono::milliseconds(100);

// One content and the files of the plan that have it.
struct Content
{
    const RemoteFile* file = nullptr;
    std::vector<std::size_t> uses; // in the plan
    FileState state = FileState::Waiting;
    std::uint64_t done = 0;
    UniqueFd lock;
    std::unique_ptr<FileDownload> download;
    std::optional<Status> ended; // told by the engine, under Fetch::m_mutex
};

std::uint64_t allocatedBytes(const fs::path& path)
{
    struct stat info
    { };
    return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

class Fetch
{
public:
    Fetch(transfer::Downloader& downloader, const HubClient& client, const Plan& plan, FetchOptions options,
        const OnProgress& onProgress, const transfer::CancelFlag& cancel);
    ~Fetch();

    Result<FetchReport> run();

private:
    Status prepare();
    Status checkDisk() const;
    Status startMore();
    Status startOne(Content& content);
    transfer::FileSpec specOf(const Content& content) const;
    Status collect();
    Status finish(Content& content, const Status& ended);
    Status linkAll(Content& content);
    void stopAll();
    void report();
    int running() const;
    const std::string& repo() const { return m_plan.model.repo; }

    transfer::Downloader& m_downloader;
    const HubClient& m_client;
    const Plan& m_plan;
    FetchOptions m_options;
    const OnProgress& m_onProgress;
    transfer::CancelFlag m_cancel;
    HubCache m_cache;
    std::vector<std::unique_ptr<Content>> m_contents; // small ones first
    FetchReport m_report;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::size_t m_ready = 0;
    std::int64_t m_lockTriedNs = 0;
};

Fetch::Fetch(transfer::Downloader& downloader, const HubClient& client, const Plan& plan,
    FetchOptions options, const OnProgress& onProgress, const transfer::CancelFlag& cancel)
    : m_downloader(downloader), m_client(client), m_plan(plan), m_options(options), m_onProgress(onProgress),
      m_cancel(cancel), m_cache(client.settings().cache)
{
    std::map<std::string, Content*> byHash;
    for (std::size_t i = 0; i < plan.files.size(); ++i) {
        Content*& content = byHash[plan.files[i].etag()];
        if (!content) {
            content = m_contents.emplace_back(std::make_unique<Content>()).get();
            content->file = &plan.files[i];
        }
        content->uses.push_back(i);
    }
    // Configuration and tokenizer come first: they are worth looking at while the weights arrive.
    std::ranges::stable_sort(m_contents, [](const auto& a, const auto& b) {
        constexpr std::uint64_t small = 16U << 20U;
        return (a->file->size < small) > (b->file->size < small);
    });
    m_options.file.keepFree = m_options.keepFree;
}

Fetch::~Fetch()
{
    stopAll();
}

Result<FetchReport> Fetch::run()
{
    GB_TRY(prepare());
    while (m_ready < m_contents.size()) {
        if (m_cancel && *m_cancel)
            return fail("cancelled", "cancelled");
        GB_TRY(startMore());
        {
            std::unique_lock lock(m_mutex);
            const auto somethingEnded = [this] {
                return std::ranges::any_of(m_contents, [](auto& c) { return c->ended.has_value(); });
            };
            m_wake.wait_for(lock, betweenReports, somethingEnded);
        }
        GB_TRY(collect());
        report();
    }
    GB_TRY(m_cache.writeRef(repo(), m_plan.model.revision, m_plan.model.commit));
    m_report.snapshot = m_cache.snapshot(repo(), m_plan.model.commit);
    return m_report;
}

Status Fetch::prepare()
{
    GB_TRY(m_cache.prepare(repo()));
    GB_TRY(m_cache.writeTree(repo(), m_plan.model.commit, m_plan.listing));
    for (const auto& content : m_contents) {
        if (!m_cache.hasBlob(repo(), *content->file))
            continue;
        content->done = content->file->size;
        m_report.found += content->file->size;
        GB_TRY(linkAll(*content));
    }
    return checkDisk();
}

Status Fetch::checkDisk() const
{
    std::uint64_t needed = 0;
    for (const auto& content : m_contents) {
        if (content->state == FileState::Ready)
            continue;
        const std::uint64_t there = allocatedBytes(m_cache.partial(repo(), content->file->etag()));
        needed += content->file->size - std::min(there, content->file->size);
    }
    struct statvfs info
    { };
    if (needed == 0 || ::statvfs(m_cache.folder().c_str(), &info) != 0)
        return {};
    const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
    if (free >= needed + m_options.keepFree)
        return {};
    return fail("io.disk_full",
        "the files need " + std::to_string(needed >> 20U) + " MiB, " + std::to_string(free >> 20U)
            + " MiB are free and " + std::to_string(m_options.keepFree >> 20U) + " MiB are to stay so",
        Json{{"needed", needed}, {"free", free}, {"keep_free", m_options.keepFree}});
}

int Fetch::running() const
{
    return static_cast<int>(
        std::ranges::count_if(m_contents, [](const auto& c) { return c->download != nullptr; }));
}

Status Fetch::startMore()
{
    // Somebody else's lock is not tried again with every wake-up.
    const std::int64_t now = monotonicNs();
    const bool tryLocked = now - m_lockTriedNs > 500'000'000;
    if (tryLocked)
        m_lockTriedNs = now;
    int free = m_options.files - running();
    for (const auto& content : m_contents) {
        if (free <= 0)
            return {};
        const bool isNext =
            content->state == FileState::Waiting || (content->state == FileState::Locked && tryLocked);
        if (!isNext || content->download)
            continue;
        GB_TRY(startOne(*content));
        free -= content->download ? 1 : 0;
    }
    return {};
}

Status Fetch::startOne(Content& content)
{
    auto lock = m_cache.tryLock(repo(), content.file->etag());
    if (!lock)
        return fail(lock.error());
    if (!*lock) {
        content.state = FileState::Locked;
        return {};
    }
    if (m_cache.hasBlob(repo(), *content.file)) { // whoever had the lock has finished it
        m_report.found += content.file->size;
        return linkAll(content);
    }
    content.lock = std::move(**lock);
    content.state = FileState::Downloading;
    content.download = std::make_unique<FileDownload>(m_downloader, specOf(content), m_options.file);
    content.download->start([this, &content](Status ended) {
        const std::lock_guard guard(m_mutex);
        content.ended = std::move(ended);
        m_wake.notify_all();
    });
    return {};
}

transfer::FileSpec Fetch::specOf(const Content& content) const
{
    transfer::FileSpec spec;
    spec.url = m_client.fileUrl(m_plan.model, content.file->path);
    spec.credential = m_client.credential();
    spec.size = content.file->size;
    spec.kind = content.file->digestKind();
    spec.digest = content.file->etag();
    spec.partial = m_cache.partial(repo(), content.file->etag());
    spec.record = m_cache.pieces(repo(), content.file->etag());
    spec.priority = m_options.priority;
    return spec;
}

Status Fetch::collect()
{
    for (const auto& content : m_contents) {
        if (!content->download)
            continue;
        std::optional<Status> ended;
        {
            const std::lock_guard guard(m_mutex);
            ended.swap(content->ended);
        }
        if (!ended)
            continue;
        content->download.reset();
        GB_TRY(finish(*content, *ended));
    }
    return {};
}

Status Fetch::finish(Content& content, const Status& ended)
{
    if (!ended) {
        Error error = hubError(ended.error(), repo(), m_client.pageUrl(repo()));
        error.data["path"] = content.file->path;
        return fail(std::move(error));
    }
    GB_TRY(m_cache.publishBlob(repo(), content.file->etag()));
    m_report.fetched += content.file->size;
    content.done = content.file->size;
    GB_TRY(linkAll(content));
    content.lock.reset();
    return {};
}

Status Fetch::linkAll(Content& content)
{
    for (const std::size_t use : content.uses) {
        const RemoteFile& file = m_plan.files[use];
        if (!m_cache.isLinked(repo(), m_plan.model.commit, file))
            GB_TRY(m_cache.link(repo(), m_plan.model.commit, file));
    }
    content.state = FileState::Ready;
    content.done = content.file->size;
    ++m_ready;
    return {};
}

void Fetch::stopAll()
{
    for (const auto& content : m_contents) {
        if (content->download)
            content->download->cancel();
    }
    std::unique_lock lock(m_mutex);
    const auto allEnded = [this] {
        return std::ranges::none_of(m_contents, [](auto& c) { return c->download && !c->ended; });
    };
    // The engine may have been stopped before us; then nobody will tell.
    m_wake.wait_for(lock, std::chrono::seconds(10), allEnded);
}

void Fetch::report()
{
    FetchProgress progress;
    progress.files.resize(m_plan.files.size());
    progress.total = m_plan.bytes;
    progress.found = m_report.found;
    bool everyByte = true;
    for (const auto& content : m_contents) {
        if (content->download) {
            const FileDownload::Progress now = content->download->progress();
            content->done = now.done;
            content->state = now.done == content->file->size ? FileState::Verifying : FileState::Downloading;
            progress.connections += now.connections;
            progress.lastByteNs = std::max(progress.lastByteNs, now.lastByteNs);
            if (now.trouble)
                progress.trouble = now.trouble;
        }
        everyByte = everyByte && content->done == content->file->size;
        progress.done += content->done;
        for (const std::size_t use : content->uses)
            progress.files[use] = {&m_plan.files[use], content->state, content->done};
    }
    progress.verifying = everyByte && m_ready < m_contents.size();
    if (m_onProgress)
        m_onProgress(progress);
}

} // namespace

std::string_view toString(FileState state)
{
    switch (state) {
    case FileState::Waiting:
        return "waiting";
    case FileState::Locked:
        return "locked";
    case FileState::Downloading:
        return "downloading";
    case FileState::Verifying:
        return "verifying";
    case FileState::Ready:
        return "ready";
    }
    return {};
}

Result<FetchReport> fetchSnapshot(transfer::Downloader& downloader, const HubClient& client, const Plan& plan,
    const FetchOptions& options, const OnProgress& onProgress, const transfer::CancelFlag& cancel)
{
    return Fetch(downloader, client, plan, options, onProgress, cancel).run();
}

} // namespace gb::hub
