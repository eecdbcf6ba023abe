// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "joblist.h"

#include <backend/base/clock.h>

#include "onmain.h"
#include "statehub.h"

namespace gb::service {
namespace {

constexpr std::int64_t outcomeKeptMs = 24LL * 3600 * 1000;

tl::unexpected<Error> noSuchJob(const std::string& id)
{
    return fail("jobs.unknown", "there is no job " + id, Json{{"job", id}});
}

} // namespace

JobList::JobList(Store* store, StateHub* state, QObject* parent)
    : QObject(parent), m_store(store), m_state(state)
{
    const auto ended = m_store->listJobs();
    if (!ended)
        return;
    for (const JobOutcome& job : *ended) {
        if (auto item = parseJson(job.item))
            m_state->set("jobs", job.id, std::move(*item));
    }
}

JobList::~JobList()
{
    for (auto& [id, job] : m_jobs)
        job->disconnect(this);
}

Json JobList::start(std::unique_ptr<Job> owned)
{
    Job* job = owned.get();
    const std::string id = job->id();
    m_jobs.emplace(id, std::move(owned));
    connect(job, &Job::changed, this, [this, job] { m_state->set("jobs", job->id(), job->toJson()); });
    connect(job, &Job::finished, this, [this, job] { onFinished(job); });
    job->start();
    Q_EMIT changed();
    return Json{{"job", id}};
}

void JobList::onFinished(Job* job)
{
    const std::string& id = job->id();
    const Result<Json>& outcome = job->outcome();
    const Json kept = outcome ? Json{{"result", *outcome}} : Json{{"error", outcome.error().toJson()}};
    constexpr auto replace = Json::error_handler_t::replace;
    m_store->putJob(
        {id, job->toJson().dump(-1, ' ', false, replace), kept.dump(-1, ' ', false, replace), wallMs()},
        onMain<void>(this, [this, id](const Status&) {
            // Until it is in the store, jobs.get answers from the Job itself.
            m_jobs.erase(id);
            Q_EMIT changed();
        }));
}

void JobList::recordInterrupted(const std::string& id, const std::string& kind, const std::string& title,
    const std::string& subject, const Error& error)
{
    if (id.empty() || m_jobs.contains(id) || m_store->getJob(id))
        return;
    const Json item{{"id", id}, {"kind", kind}, {"title", title}, {"state", "failed"},
        {"progress", {{"done", 0}, {"unit", ""}}}, {"message", ""}, {"started_at", 0}, {"ended_at", wallMs()},
        {"cancellable", false}, {"subject", subject}, {"error", error.toJson()}};
    m_state->set("jobs", id, item);
    m_store->putJob({id, item.dump(), Json{{"error", error.toJson()}}.dump(), wallMs()},
        logged("cannot store the end of a job"));
}

Result<Json> JobList::get(const std::string& id) const
{
    if (const auto running = m_jobs.find(id); running != m_jobs.end()) {
        Json item = running->second->toJson();
        if (running->second->isFinished() && running->second->outcome())
            item["result"] = *running->second->outcome();
        return item;
    }
    const auto stored = m_store->getJob(id);
    if (!stored) {
        // Ended, and still on its way into the store.
        const auto& shown = m_state->items("jobs");
        const auto found = shown.find(id);
        return found == shown.end() ? Result<Json>(noSuchJob(id)) : found->second;
    }
    auto item = parseJson(stored->item);
    auto outcome = parseJson(stored->outcome);
    if (!item || !outcome)
        return fail("jobs.broken", "the stored job cannot be read", Json{{"job", id}});
    item->update(*outcome);
    return item;
}

Result<Json> JobList::list() const
{
    Json jobs = Json::array();
    for (const auto& [id, item] : m_state->items("jobs"))
        jobs.push_back(item);
    return Json{{"jobs", std::move(jobs)}};
}

Status JobList::cancel(const std::string& id)
{
    if (const auto running = m_jobs.find(id); running != m_jobs.end()) {
        running->second->cancel();
        return {};
    }
    return m_store->getJob(id) ? Status() : Status(noSuchJob(id));
}

void JobList::forgetOld()
{
    std::vector<std::string> old;
    for (const auto& [id, item] : m_state->items("jobs")) {
        const std::int64_t ended = integerOr(item, "ended_at");
        if (ended != 0 && ended < wallMs() - outcomeKeptMs)
            old.push_back(id);
    }
    for (const std::string& id : old)
        m_state->remove("jobs", id);
}

} // namespace gb::service
