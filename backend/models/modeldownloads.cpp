// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <backend/base/clock.h>
#include <backend/base/ids.h>

#include "modeldownloads_p.h"

namespace gb {

namespace {

bool comesBack(const Error& error)
{
    return error.code == "hub.unavailable" || error.code == "hub.rate_limited"
        || transfer::isTransient(error);
}

} // namespace

ModelDownloads::ModelDownloads(fs::path file, Options options) : m_file(std::move(file)), m_options(options)
{
    m_options.fetch.file.retry.attempts = std::max(m_options.fetch.file.retry.attempts, 1);
    m_watch.setInterval(500);
    connect(&m_watch, &QTimer::timeout, this, &ModelDownloads::lookForStalls);
}

Result<std::unique_ptr<ModelDownloads>> ModelDownloads::open(fs::path file, Options options)
{
    std::unique_ptr<ModelDownloads> downloads(new ModelDownloads(std::move(file), options));
    GB_TRY(downloads->load());
    downloads->startMore();
    return downloads;
}

ModelDownloads::~ModelDownloads()
{
    for (const auto& [id, active] : m_active)
        *active->cancel = true;
    for (const auto& [id, active] : m_active)
        active->thread.join();
}

auto ModelDownloads::find(const std::string& id) -> Download*
{
    const auto it =
        std::ranges::find_if(m_downloads, [&](const auto& download) { return download->id == id; });
    return it == m_downloads.end() ? nullptr : it->get();
}

auto ModelDownloads::find(const std::string& id) const -> const Download*
{
    return const_cast<ModelDownloads*>(this)->find(id);
}

transfer::Downloader& ModelDownloads::downloaderFor(const transfer::NetworkOptions& network)
{
    auto& downloader = m_downloaders[network.httpProxy + "\n" + network.httpsProxy + "\n" + network.noProxy
        + "\n" + network.caFile];
    if (!downloader) {
        downloader = std::make_unique<transfer::Downloader>(network);
        downloader->engine.setRate(m_options.bytesPerSecond);
    }
    return *downloader;
}

std::string ModelDownloads::idOf(const DownloadSpec& spec) const
{
    const auto same = std::ranges::find_if(m_downloads, [&](const auto& other) {
        return other->spec.model.repo == spec.model.repo && other->spec.model.revision == spec.model.revision
            && other->spec.choice.toJson() == spec.choice.toJson() && other->spec.hub.cache == spec.hub.cache
            && other->spec.hub.endpoint == spec.hub.endpoint;
    });
    return same == m_downloads.end() ? std::string() : (*same)->id;
}

Result<std::string> ModelDownloads::add(DownloadSpec spec)
{
    Download* download = find(idOf(spec));
    if (!download) {
        download = m_downloads.emplace_back(std::make_unique<Download>()).get();
        download->id = newId();
        download->addedAt = wallMs();
    } else if (m_active.contains(download->id)) {
        GB_TRY(resume(download->id, spec.hub.token));
        return download->id;
    }
    download->needsToken = !spec.hub.token.empty();
    download->spec = std::move(spec);
    download->retries = 0;
    setState(*download, State::Queued);
    save();
    startMore();
    Q_EMIT wanted(download->id);
    return download->id;
}

void ModelDownloads::startMore()
{
    std::vector<Download*> waiting;
    for (const auto& download : m_downloads) {
        if (download->state == State::Queued && !m_active.contains(download->id))
            waiting.push_back(download.get());
    }
    std::ranges::stable_sort(
        waiting, std::greater(), [](const Download* download) { return download->spec.priority; });
    for (Download* download : waiting) {
        if (static_cast<int>(m_active.size()) >= m_options.atOnce)
            return;
        if (download->needsToken && download->spec.hub.token.empty()) {
            setState(*download, State::WaitingAccess,
                Error{"models.needs_token",
                    "it was begun with a token, which is not stored; resume it with one"});
            continue;
        }
        startOne(*download);
    }
}

void ModelDownloads::startOne(Download& download)
{
    auto active = std::make_unique<Active>();
    active->startedNs = monotonicNs();
    download.progress = {};
    download.samples = {};
    download.wantsPause = false;
    hub::FetchOptions options = m_options.fetch;
    options.priority = download.spec.priority;
    // The thread is joined before this object goes away, so what it posts is delivered to a living one or
    // dropped with its event queue.
    active->thread = std::thread([this, id = download.id, spec = download.spec, options,
                                     cancel = active->cancel,
                                     downloader = &downloaderFor(download.spec.hub.network)] {
        const auto report = [this, id](DownloadProgress progress) {
            QMetaObject::invokeMethod(
                this, [this, id, progress = std::move(progress)] { onProgress(id, progress); },
                Qt::QueuedConnection);
        };
        Result<Json> outcome = runDownload(*downloader, spec, options, report, cancel);
        QMetaObject::invokeMethod(
            this, [this, id, outcome = std::move(outcome)] { onEnded(id, outcome); }, Qt::QueuedConnection);
    });
    m_active[download.id] = std::move(active);
    m_watch.start();
    setState(download, State::Resolving);
    Q_EMIT busyChanged();
}

void ModelDownloads::onProgress(const std::string& id, DownloadProgress progress)
{
    Download* download = find(id);
    if (!download || !m_active.contains(id) || isFinal(download->state))
        return;
    download->progress = std::move(progress);
    const DownloadProgress& now = download->progress;
    download->samples.add(monotonicNs(), now.done - std::min(now.found, now.done));
    if (now.verifying)
        setState(*download, State::Verifying);
    else if (download->state != State::Stalled)
        setState(*download, State::Downloading);
    else
        Q_EMIT changed(id);
}

void ModelDownloads::lookForStalls()
{
    const std::int64_t now = monotonicNs();
    const std::int64_t patience = std::int64_t{m_options.stalledAfterMs} * 1'000'000;
    bool isWatching = !m_active.empty();
    for (const auto& download : m_downloads) {
        const auto active = m_active.find(download->id);
        if (active == m_active.end()) {
            const bool waits = download->state == State::Stalled;
            isWatching = isWatching || waits;
            if (waits && now >= download->retryAtNs)
                setState(*download, State::Queued);
            continue;
        }
        const std::int64_t quietSince = std::max(active->second->startedNs, download->progress.lastByteNs);
        const bool isQuiet = now - quietSince > patience;
        if (download->state == State::Downloading && isQuiet) {
            setState(*download, State::Stalled, download->progress.trouble);
            download->since = wallMs() - (now - quietSince) / 1'000'000;
        } else if (download->state == State::Stalled && !isQuiet) {
            setState(*download, State::Downloading);
        }
    }
    if (!isWatching)
        m_watch.stop();
    startMore();
}

void ModelDownloads::onEnded(const std::string& id, Result<Json> outcome)
{
    const auto active = m_active.find(id);
    if (active == m_active.end())
        return;
    active->second->thread.join();
    m_active.erase(active);
    if (Download* download = find(id)) {
        if (outcome) {
            download->outcome = std::move(*outcome);
            download->retries = 0;
            download->progress.done = download->progress.total;
            setState(*download, State::Ready);
        } else {
            judge(*download, std::move(outcome).error());
        }
        save();
    }
    startMore();
    Q_EMIT busyChanged();
}

void ModelDownloads::judge(Download& download, Error error)
{
    if (error.code == "cancelled")
        return setState(download, download.wantsPause ? State::Paused : State::Queued);
    if (error.code == "hub.gated")
        return setState(download, State::WaitingAccess, std::move(error));
    if (!comesBack(error))
        return setState(download, State::Failed, std::move(error));
    const int delay = transfer::retryDelayMs(
        {.attempts = 0, .baseMs = m_options.retryFirstMs, .capMs = m_options.retryCapMs}, download.retries++);
    download.retryAtNs = monotonicNs() + std::int64_t{delay} * 1'000'000;
    m_watch.start();
    setState(download, State::Stalled, std::move(error));
}

void ModelDownloads::setState(Download& download, State state, std::optional<Error> reason)
{
    if (download.state != state || download.since == 0)
        download.since = wallMs();
    const bool endsOrBegins = isFinal(download.state) != isFinal(state);
    download.state = state;
    download.reason = std::move(reason);
    if (state != State::Downloading)
        download.samples.points.clear();
    Q_EMIT changed(download.id);
    if (endsOrBegins)
        Q_EMIT busyChanged();
}

bool ModelDownloads::isBusy() const
{
    return !m_active.empty()
        || std::ranges::any_of(m_downloads, [](const auto& download) { return !isFinal(download->state); });
}

void ModelDownloads::stop(const std::string& id)
{
    if (const auto active = m_active.find(id); active != m_active.end())
        *active->second->cancel = true;
}

Status ModelDownloads::pause(const std::string& id)
{
    Download* download = find(id);
    if (!download)
        return fail("models.no_download", "there is no such download", Json{{"id", id}});
    if (download->state == State::Ready)
        return {};
    download->wantsPause = true;
    stop(id);
    setState(*download, State::Paused);
    save();
    return {};
}

Status ModelDownloads::resume(const std::string& id, const std::string& token)
{
    Download* download = find(id);
    if (!download)
        return fail("models.no_download", "there is no such download", Json{{"id", id}});
    if (!token.empty())
        download->spec.hub.token = token;
    download->retries = 0;
    download->wantsPause = false;
    const bool isRunning = m_active.contains(id);
    if (download->state != State::Ready && (!isRunning || download->state == State::Paused))
        setState(*download, State::Queued);
    save();
    startMore();
    Q_EMIT wanted(id);
    return {};
}

Status ModelDownloads::setPriority(const std::string& id, int priority)
{
    Download* download = find(id);
    if (!download)
        return fail("models.no_download", "there is no such download", Json{{"id", id}});
    download->spec.priority = priority;
    Q_EMIT changed(id);
    save();
    return {};
}

Status ModelDownloads::forget(const std::string& id)
{
    const auto gone = std::erase_if(m_downloads, [&](const auto& download) { return download->id == id; });
    if (gone == 0)
        return fail("models.no_download", "there is no such download", Json{{"id", id}});
    stop(id);
    Q_EMIT removed(id);
    Q_EMIT busyChanged();
    save();
    return {};
}

void ModelDownloads::pauseAll()
{
    for (const std::string& id : ids()) {
        if (!isFinal(state(id)))
            pause(id);
    }
}

void ModelDownloads::resumeAll(const std::string& token)
{
    for (const std::string& id : ids()) {
        if (state(id) == State::Paused)
            resume(id, token);
    }
}

void ModelDownloads::setRate(std::int64_t bytesPerSecond)
{
    m_options.bytesPerSecond = bytesPerSecond;
    for (const auto& [network, downloader] : m_downloaders)
        downloader->engine.setRate(bytesPerSecond);
}

std::vector<std::string> ModelDownloads::ids() const
{
    std::vector<std::string> list;
    for (const auto& download : m_downloads)
        list.push_back(download->id);
    return list;
}

ModelDownloads::State ModelDownloads::state(const std::string& id) const
{
    const Download* download = find(id);
    return download ? download->state : State::Failed;
}

} // namespace gb
