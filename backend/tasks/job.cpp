// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "job.h"

#include <backend/base/clock.h>
#include <backend/base/ids.h>

namespace gb {
namespace {

template <typename Figures>
Json figuresJson(const Figures& figures)
{
    Json json{{"done", figures.done}, {"unit", figures.unit}};
    if (figures.total)
        json["total"] = *figures.total;
    if (figures.rate)
        json["rate"] = *figures.rate;
    if (figures.remainingSeconds)
        json["remaining_s"] = *figures.remainingSeconds;
    return json;
}

} // namespace

Job::Job(std::string kind, std::string title, QObject* parent)
    : QObject(parent), m_id(newId()), m_kind(std::move(kind)), m_title(std::move(title)),
      m_outcome(fail("job.unfinished", "the job has not ended"))
{ }

Job::~Job() = default;

void Job::start()
{
    if (m_state != State::Queued)
        return;
    m_state = State::Running;
    m_startedAt = wallMs();
    Q_EMIT changed();
    run();
}

void Job::cancel()
{
    if (isFinished() || m_cancelRequested)
        return;
    m_cancelRequested = true;
    if (m_state == State::Queued)
        finish(fail("cancelled", "cancelled before it started"));
    else
        abort();
}

void Job::setProgress(Progress progress)
{
    m_progress = std::move(progress);
    Q_EMIT changed();
}

void Job::setMessage(std::string message)
{
    m_message = std::move(message);
    Q_EMIT changed();
}

void Job::finish(Result<Json> outcome)
{
    if (isFinished())
        return;
    m_endedAt = wallMs();
    if (m_cancelRequested) {
        m_state = State::Cancelled;
        m_outcome = fail("cancelled", "cancelled");
    } else {
        m_state = outcome ? State::Done : State::Failed;
        m_outcome = std::move(outcome);
    }
    Q_EMIT changed();
    Q_EMIT finished();
}

Json Job::toJson() const
{
    Json progress = figuresJson(m_progress);
    if (m_progress.part) {
        progress["part"] = figuresJson(*m_progress.part);
        progress["part"]["state"] = m_progress.part->state;
    }
    Json item{{"id", m_id}, {"kind", m_kind}, {"title", m_title}, {"state", toString(m_state)},
        {"progress", std::move(progress)}, {"message", m_message}, {"started_at", m_startedAt},
        {"cancellable", !isFinished() && !m_cancelRequested}};
    if (!m_subject.empty())
        item["subject"] = m_subject;
    if (isFinished()) {
        item["ended_at"] = m_endedAt;
        if (!m_outcome)
            item["error"] = m_outcome.error().toJson();
    }
    return item;
}

std::string_view toString(Job::State state)
{
    switch (state) {
    case Job::State::Queued:
        return "queued";
    case Job::State::Running:
        return "running";
    case Job::State::Done:
        return "done";
    case Job::State::Failed:
        return "failed";
    case Job::State::Cancelled:
        return "cancelled";
    }
    return "failed";
}

} // namespace gb
