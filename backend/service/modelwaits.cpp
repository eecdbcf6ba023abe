// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelwaits.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <backend/base/json.h>

namespace gb::service {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto lookEvery = std::chrono::milliseconds(100);
// A network that comes back within it costs a start nothing.
constexpr auto patience = std::chrono::minutes(2);

ModelProgress progressFrom(const Json& item)
{
    ModelProgress progress;
    progress.state = stringOr(item, "state");
    progress.done = integerOr(item, "done");
    if (item.contains("total"))
        progress.total = integerOr(item, "total");
    if (item.contains("rate"))
        progress.rate = numberOr(item, "rate");
    if (item.contains("remaining_s"))
        progress.remainingSeconds = numberOr(item, "remaining_s");
    for (const char* key : {"reason", "trouble"}) {
        if (const Json why = objectOr(item, key); !why.empty())
            progress.trouble = stringOr(why, "message");
    }
    return progress;
}

// What the items of one download mean for somebody who waits for it.
class Course
{
public:
    enum class End { No, Good, Bad };

    End look(const Json& item)
    {
        const std::string state = stringOr(item, "state");
        if (item.empty())
            return stop({"models.removed", "its download was taken off the list"});
        if (state == "ready")
            return End::Good;
        if (state == "failed" || state == "waiting_access")
            return stop(Error::fromJson(objectOr(item, "reason")));
        const auto now = Clock::now();
        const bool isMoving = integerOr(item, "done") != m_done;
        if (isMoving || state != "stalled")
            m_movedAt = now;
        m_done = integerOr(item, "done");
        m_hasMoved = m_hasMoved || item.contains("total");
        // A hub that never answered is away; one that did may come back.
        const Json reason = objectOr(item, "reason");
        if (state == "stalled" && !reason.empty() && (!m_hasMoved || now - m_movedAt > patience))
            return stop(Error::fromJson(reason));
        return End::No;
    }
    const Error& error() const { return m_error; }

private:
    End stop(Error error)
    {
        m_error = std::move(error);
        return End::Bad;
    }

    Error m_error;
    std::int64_t m_done = -1;
    bool m_hasMoved = false;
    Clock::time_point m_movedAt = Clock::now();
};

} // namespace

struct ModelWaits::Waiter
{
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Json> item; // the newest; empty once there is no such download
    std::optional<Error> refused;
    bool isNews = false;
    std::string id; // of the download; the daemon's thread only

    void refuse(const Error& error)
    {
        const std::lock_guard lock(mutex);
        refused = error;
        changed.notify_all();
    }
    void tell(Json now)
    {
        const std::lock_guard lock(mutex);
        item = std::move(now);
        isNews = true;
        changed.notify_all();
    }
};

ModelWaits::ModelWaits(ModelDownloads* downloads) : m_downloads(downloads)
{
    connect(m_downloads, &ModelDownloads::changed, this,
        [this](const std::string& id) { onChanged(id, m_downloads->item(id)); });
    connect(m_downloads, &ModelDownloads::removed, this,
        [this](const std::string& id) { onChanged(id, Json::object()); });
    connect(m_downloads, &ModelDownloads::wanted, this, &ModelWaits::onWanted);
}

ModelWaits::~ModelWaits() = default;

Status ModelWaits::fetch(const DownloadSpec& spec,
    const std::function<void(const ModelProgress&)>& onProgress, const std::function<bool()>& isCancelled)
{
    const auto waiter = std::make_shared<Waiter>();
    QMetaObject::invokeMethod(
        this, [this, waiter, spec] { begin(waiter, spec); }, Qt::QueuedConnection);
    Course course;
    auto end = Course::End::No;
    std::optional<Error> error;
    while (end == Course::End::No && !error) {
        std::optional<Json> item;
        bool isNews = false;
        {
            std::unique_lock lock(waiter->mutex);
            waiter->changed.wait_for(lock, lookEvery, [&] { return waiter->isNews || waiter->refused; });
            isNews = std::exchange(waiter->isNews, false);
            item = waiter->item;
            error = waiter->refused;
        }
        if (isCancelled())
            error = Error{"cancelled", "cancelled"};
        if (!item || error)
            continue;
        end = course.look(*item);
        if (end == Course::End::Bad)
            error = course.error();
        else if (isNews)
            onProgress(progressFrom(*item));
    }
    QMetaObject::invokeMethod(
        this, [this, waiter] { leave(waiter); }, Qt::QueuedConnection);
    if (error)
        return fail(std::move(*error));
    return {};
}

void ModelWaits::begin(const std::shared_ptr<Waiter>& waiter, const DownloadSpec& spec)
{
    const std::string known = m_downloads->idOf(spec);
    Before before = Before::Absent;
    if (!known.empty())
        before = isFinal(m_downloads->state(known)) ? Before::Resting : Before::Busy;
    m_isBeginning = true;
    const auto id = m_downloads->add(spec);
    m_isBeginning = false;
    if (!id)
        return waiter->refuse(id.error());
    waiter->id = *id;
    const auto [waited, isFirst] = m_waited.try_emplace(*id);
    if (isFirst)
        waited->second.before = before;
    waited->second.waiters.push_back(waiter);
    waiter->tell(m_downloads->item(*id));
}

void ModelWaits::leave(const std::shared_ptr<Waiter>& waiter)
{
    const auto waited = m_waited.find(waiter->id);
    if (waited == m_waited.end())
        return;
    std::erase(waited->second.waiters, waiter);
    if (!waited->second.waiters.empty())
        return;
    const std::string id = waited->first;
    const Before before = waited->second.before;
    m_waited.erase(waited);
    // What has ended stays on the list with how it ended.
    if (before == Before::Busy || isFinal(m_downloads->state(id)))
        return;
    if (before == Before::Absent)
        (void)m_downloads->forget(id);
    else
        (void)m_downloads->pause(id);
}

void ModelWaits::onChanged(const std::string& id, const Json& item)
{
    const auto waited = m_waited.find(id);
    if (waited == m_waited.end())
        return;
    for (const auto& waiter : waited->second.waiters)
        waiter->tell(item);
}

void ModelWaits::onWanted(const std::string& id)
{
    if (const auto waited = m_waited.find(id); waited != m_waited.end() && !m_isBeginning)
        waited->second.before = Before::Busy;
}

} // namespace gb::service
