// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// How sandboxes come and go.

#include "sandboxes.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

#include <backend/base/clock.h>
#include <backend/base/log.h>

#include "interfaces.h"
#include "joblist.h"
#include "statehub.h"

namespace gb::service {
namespace {

constexpr int firstRetryMs = 1'000;
constexpr int longestRetryMs = 60'000;
constexpr int lookEveryMs = 20;
constexpr int mostLooks = 250;

std::string nameOf(const SandboxRequest& request)
{
    if (!request.spec.name.empty())
        return request.spec.name;
    const std::string folder = request.experimentFolder.filename().string();
    return folder.empty() ? "sandbox" : folder;
}

Json problemsJson(const std::vector<SpecProblem>& problems)
{
    Json all = Json::array();
    for (const SpecProblem& problem : problems)
        all.push_back(problem.toJson());
    return all;
}

} // namespace

// A stop that is waited for: it ends when its sandbox has.
class Sandboxes::StopJob final : public Job
{
public:
    explicit StopJob(const std::string& name) : Job("sandboxes.stop", "Stopping " + name) { }
    void end(const Result<Json>& outcome) { finish(outcome); }
    void say(const std::string& message) { setMessage(message); }

protected:
    void run() override { }
    // Whoever no longer waits leaves the sandbox to the reaper, which goes on.
    void abort() override { finish(fail("cancelled", "not waited for any longer")); }
};

// Between a provider at work on the pool and the daemon's thread.
class Sandboxes::Watch final : public ProvisionWatch
{
public:
    Watch(Sandboxes* owner, std::string id, ThreadJob::Control& control)
        : m_owner(owner), m_id(std::move(id)), m_control(control), m_leaving(owner->m_leaving),
          m_log(::open(
              (owner->folderOf(m_id) / "start.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600))
    { }

    bool isCancelled() const override { return *m_leaving || m_control.isCancelled(); }
    void onPlan(const std::vector<PlanStep>& steps) override
    {
        m_count = steps.size();
        m_owner->post([owner = m_owner, id = m_id, steps] { owner->onSteps(id, steps); });
    }
    void onStep(const PlanStep& step, std::size_t index) override
    {
        onOutput("== " + step.title + "\n");
        m_progress.done = static_cast<std::int64_t>(index);
        m_progress.total = static_cast<std::int64_t>(m_count);
        m_progress.unit = "steps";
        m_progress.part.reset();
        m_logged.clear();
        m_control.setMessage(step.title);
        m_control.setProgress(m_progress);
        m_owner->post([owner = m_owner, id = m_id, index] { owner->onStep(id, index); });
    }
    void onModel(const ModelProgress& now) override
    {
        m_progress.part = Job::Part{now.state, now.done, now.total, "bytes", now.rate, now.remainingSeconds};
        m_control.setProgress(m_progress);
        // The log has a line when something changes and every ten per cent.
        std::string line = now.state;
        if (now.total && *now.total > 0)
            line += " " + std::to_string(now.done * 10 / *now.total * 10) + " %";
        if (!now.trouble.empty())
            line += ": " + now.trouble;
        if (std::exchange(m_logged, line) != line)
            onOutput(line + "\n");
    }
    void onOutput(std::string_view text) override
    {
        while (!text.empty()) {
            const ssize_t n = ::write(m_log.get(), text.data(), text.size());
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return; // a log is not worth failing for
            text.remove_prefix(static_cast<std::size_t>(n));
        }
    }

private:
    Sandboxes* m_owner;
    std::string m_id;
    ThreadJob::Control& m_control;
    std::shared_ptr<std::atomic<bool>> m_leaving;
    UniqueFd m_log;
    std::size_t m_count = 0;
    Job::Progress m_progress;
    std::string m_logged;
};

Result<Json> Sandboxes::start(SandboxRequest request)
{
    const std::string id = request.id;
    if (const SandboxRecord* known = m_registry->find(id))
        return Json{{"job", stringOr(known->details, "job")}, {"sandbox", id}};
    if (!provider(request.spec.provider))
        return fail("spec.invalid", "provider: there is no provider " + request.spec.provider,
            Json{{"field", "provider"}, {"fix", "write \"local\""}});
    GB_TRY(ensurePrivateDir(m_parts.dataFolder / "boxes"));
    GB_TRY(ensurePrivateDir(folderOf(id)));
    const auto shared = std::make_shared<SandboxRequest>(std::move(request));
    auto job = makeStartJob(shared);
    auto record = m_registry->add(id, shared->spec, shared->experimentFolder.string(),
        Json{{"name", nameOf(*shared)}, {"job", job->id()}});
    if (!record)
        return fail(record.error());
    shared->nonce = record->nonce;
    Box& box = m_boxes[id];
    box.startJob = job->id();
    ThreadJob* const raw = job.get();
    connect(raw, &Job::finished, this, [this, id, raw] { onStartEnded(id, raw); });
    const Json started = m_parts.jobs->start(std::move(job));
    publish(id);
    Q_EMIT changed();
    return Json{{"job", started["job"]}, {"sandbox", id}};
}

std::unique_ptr<ThreadJob> Sandboxes::makeStartJob(std::shared_ptr<const SandboxRequest> request)
{
    const std::string id = request->id;
    const std::string title = "Starting " + nameOf(*request);
    auto job = std::make_unique<ThreadJob>(
        "sandboxes.start", title,
        [this, provider = provider(request->spec.provider), request](
            ThreadJob::Control& control) -> Result<Json> {
            Watch watch(this, request->id, control);
            auto created = provider->create(*request, watch);
            if (!created) {
                watch.onOutput("failed: " + created.error().message + "\n");
                return fail(std::move(created).error());
            }
            watch.onOutput("ready\n");
            return Json{{"sandbox", request->id}, {"warnings", problemsJson(created->warnings)},
                {"handle", created->handle}};
        },
        &m_pool);
    job->setSubject(id);
    return job;
}

void Sandboxes::onSteps(const std::string& id, const std::vector<PlanStep>& steps)
{
    Box& box = m_boxes[id];
    box.steps.clear();
    for (const PlanStep& step : steps)
        box.steps.push_back({step});
}

void Sandboxes::onStep(const std::string& id, std::size_t index)
{
    Box& box = m_boxes[id];
    const SandboxRecord* record = m_registry->find(id);
    if (!record || index >= box.steps.size())
        return;
    for (std::size_t i = 0; i <= index; ++i) {
        StepProgress& step = box.steps[i];
        if (i < index && step.endedAt == 0) {
            step.state = "done";
            step.endedAt = wallMs();
        } else if (i == index) {
            step.state = "running";
            step.startedAt = wallMs();
        }
    }
    const std::string& kind = box.steps[index].step.kind;
    const bool isBuilding = kind == "isolation" || kind == "layer" || kind == "model";
    const SandboxState wanted = isBuilding ? SandboxState::Building : SandboxState::Starting;
    if (record->state != wanted && mayFollow(record->state, wanted))
        transition(id, wanted);
    else
        publish(id);
}

Json Sandboxes::closedSteps(const std::string& id, const std::string& lastState)
{
    Json all = Json::array();
    for (StepProgress& progress : m_boxes[id].steps) {
        if (progress.state == "running" || (progress.state == "waiting" && lastState == "done")) {
            progress.state = lastState;
            progress.endedAt = wallMs();
        }
        Json step = progress.step.toJson();
        step["state"] = progress.state;
        step["started_at"] = progress.startedAt;
        step["ended_at"] = progress.endedAt;
        all.push_back(std::move(step));
    }
    m_boxes[id].steps.clear();
    return all;
}

void Sandboxes::onStartEnded(const std::string& id, Job* job)
{
    Box& box = m_boxes[id];
    box.startJob.clear();
    const SandboxRecord* record = m_registry->find(id);
    if (!record)
        return;
    const Result<Json>& outcome = job->outcome();
    RecordChange change;
    change.details["steps"] = closedSteps(id, outcome ? "done" : "failed");
    if (outcome) {
        change.details["warnings"] = outcome->value("warnings", Json::array());
        change.handle = objectOr(*outcome, "handle");
    } else if (job->state() != Job::State::Cancelled) {
        change.details["error"] = outcome.error().toJson();
    }
    if (record->state == SandboxState::Stopping || !record->isAlive())
        return terminate(id); // whatever ended it did not know what was still to come
    if (outcome) {
        if (record->state != SandboxState::Starting)
            transition(id, SandboxState::Starting);
        transition(id, SandboxState::Ready, {}, change);
        return attach(id);
    }
    if (job->state() == Job::State::Cancelled)
        transition(id, SandboxState::Stopping, "cancelled", change);
    else
        transition(id, SandboxState::Failed, outcome.error().code, change);
    terminate(id); // for a failed one: what a provider leaves in spite of its promise
}

Result<Json> Sandboxes::stop(const std::string& sandbox)
{
    const auto record = find(sandbox);
    if (!record)
        return fail(record.error());
    auto job = std::make_unique<StopJob>(stringOr(record->details, "name"));
    job->setSubject(record->id);
    Box& box = m_boxes[record->id];
    StopJob* const raw = job.get();
    const Json started = m_parts.jobs->start(std::move(job));
    if (record->state == SandboxState::Stopped) {
        raw->end(Json{{"sandbox", record->id}});
        return started;
    }
    box.stops.emplace_back(raw);
    if (record->state != SandboxState::Stopping)
        transition(
            record->id, SandboxState::Stopping, record->state == SandboxState::Failed ? "" : "stopped");
    if (!box.startJob.empty())
        (void)m_parts.jobs->cancel(box.startJob);
    terminate(record->id);
    return started;
}

void Sandboxes::terminate(const std::string& id)
{
    const SandboxRecord* record = m_registry->find(id);
    Box& box = m_boxes[id];
    const auto from = record ? provider(record->spec.provider) : nullptr;
    if (!from || box.terminating)
        return;
    box.terminating = true;
    onPool([this, id, from, record = *record] {
        const Status done = from->terminate(record);
        post([this, id, done] { onTerminated(id, done); });
    });
}

void Sandboxes::onTerminated(const std::string& id, const Status& status)
{
    Box& box = m_boxes[id];
    box.terminating = false;
    const SandboxRecord* record = m_registry->find(id);
    if (!record || record->state != SandboxState::Stopping)
        return;
    // As long as a creation is under way, there may be more of it in a moment; its end comes here again.
    if (status && box.startJob.empty()) {
        transition(id, SandboxState::Stopped);
        return finishStopsWhenUnserved(id, mostLooks);
    }
    if (status)
        return;
    (void)m_registry->countStopAttempt(id);
    logWarning("sandboxes", "a stop is not confirmed: " + status.error().message,
        Json{{"sandbox", id}, {"code", status.error().code}});
    for (const auto& stop : box.stops) {
        if (stop)
            stop->say(status.error().message);
    }
    const int doublings = std::min(m_registry->find(id)->stopAttempts, 10);
    QTimer::singleShot(std::min(firstRetryMs << (doublings - 1), longestRetryMs), this, [this, id] {
        if (const SandboxRecord* still = m_registry->find(id);
            still && still->state == SandboxState::Stopping)
            terminate(id);
    });
}

// The hosts of its interfaces see the end by themselves and store their last records; until then they would
// still be listed. One that hangs holds up nobody for long.
void Sandboxes::finishStopsWhenUnserved(const std::string& id, int looks)
{
    if (looks == 0 || interfacesOf(id).empty())
        return finishStops(id, Json{{"sandbox", id}});
    QTimer::singleShot(lookEveryMs, this, [this, id, looks] { finishStopsWhenUnserved(id, looks - 1); });
}

void Sandboxes::finishStops(const std::string& id, const Result<Json>& outcome)
{
    for (const auto& stop : std::exchange(m_boxes[id].stops, {})) {
        if (stop && !stop->isFinished())
            stop->end(outcome);
    }
}

// What the keeper left behind says why; nothing says that it was killed.
void Sandboxes::onGone(const std::string& id)
{
    const SandboxRecord* record = m_registry->find(id);
    if (!record || record->state != SandboxState::Ready)
        return;
    const auto ended = parseJson(readFile(folderOf(id) / "ended.json").value_or("{}"));
    const std::string told = ended ? stringOr(*ended, "reason") : std::string();
    if (ended && !ended->empty())
        setDetail(id, "ended", *ended);
    recordEnd(id, told.empty() ? m_boxes[id].endReason : told);
}

void Sandboxes::recordEnd(const std::string& id, const std::string& reason)
{
    const bool isOrderly = reason == "timeout" || reason == "idle" || reason == "stopped";
    if (isOrderly) {
        transition(id, SandboxState::Stopping, reason);
    } else {
        const std::string why = reason.empty() ? "lost" : reason;
        const Error error{"sandbox." + why,
            why == "lost" ? "its keeper was killed" : "it ended by itself: " + why, Json{{"reason", why}}};
        transition(id, SandboxState::Failed, why, {Json{{"error", error.toJson()}}, std::nullopt});
    }
    terminate(id);
}

void Sandboxes::remove(const std::string& sandbox, Reply reply)
{
    const auto record = find(sandbox);
    if (!record)
        return reply.refuse(record.error());
    if (record->isAlive())
        return reply.refuse(Error{"sandbox.state", "only a stopped sandbox can be removed; stop it first",
            Json{{"state", toString(record->state)}}});
    const auto from = provider(record->spec.provider);
    // The reply must end its life on this thread.
    auto held = std::make_shared<std::unique_ptr<Reply>>(std::make_unique<Reply>(std::move(reply)));
    onPool([this, from, held, record = *record, folder = folderOf(record->id)] {
        Status done = from ? from->terminate(record) : Status();
        if (done && from)
            done = from->remove(record);
        std::error_code ignored;
        if (done)
            fs::remove_all(folder, ignored);
        post([this, held, done, id = record.id] {
            const auto own = std::move(*held);
            if (!done)
                return own->refuse(done.error());
            const SandboxRecord* known = m_registry->find(id);
            if (known && known->state == SandboxState::Failed) {
                (void)m_registry->transition(id, SandboxState::Stopping);
                (void)m_registry->transition(id, SandboxState::Stopped);
            }
            if (const Status forgotten = m_registry->forget(id); !forgotten)
                return own->refuse(forgotten.error());
            m_boxes.erase(id);
            publish(id);
            own->finish(Result<Json>(Json::object()));
        });
    });
}

} // namespace gb::service
