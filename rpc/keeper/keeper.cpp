// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "keeper.h"

#include <algorithm>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/json.h>
#include <backend/base/log.h>

namespace gb::rpc {
namespace {

constexpr std::int64_t announceAfterMs = 20;

// A daemon that looks whether anybody is there holds the lock for a moment.
Result<UniqueFd> lockFolder(const fs::path& folder)
{
    auto lock = holdLock(folder / "lock");
    for (int tries = 0; tries < 100 && !lock && lock.error().code == "io.locked"; ++tries) {
        ::usleep(10'000);
        lock = holdLock(folder / "lock");
    }
    return lock;
}

} // namespace

Result<std::unique_ptr<Keeper>> Keeper::create(Loop& loop, HostConfig config)
{
    std::error_code error;
    fs::create_directories(config.dataFolder / "hosts", error);
    GB_TRY(ensurePrivateDir(config.folder()));
    std::unique_ptr<Keeper> keeper(new Keeper(loop, std::move(config)));
    // A daemon that finds this lock free knows that the folder was left behind.
    auto lock = lockFolder(keeper->m_config.folder());
    if (!lock)
        return fail(lock.error());
    keeper->m_lock = std::move(*lock);
    auto spool = Spool::open(keeper->m_config.folder() / "spool", keeper->m_config.limits.spoolBytes);
    if (!spool)
        return fail(spool.error());
    keeper->m_spool = std::move(*spool);
    keeper->m_startedAt = wallMs();
    return keeper;
}

Keeper::~Keeper()
{
    if (const auto written = writeRecords(); !written)
        logError(
            "keeper", std::to_string(m_unwritten.size()) + " records are lost", written.error().toJson());
    m_loop.cancelTimer(m_writeTimer);
}

const char* Keeper::stateName() const
{
    switch (m_state) {
    case State::Loading:
        return "loading";
    case State::Ready:
        return "ready";
    case State::Failed:
        return "failed";
    case State::Restarting:
        return "restarting";
    case State::Stopping:
        return "stopping";
    }
    return "";
}

Json Keeper::health() const
{
    std::size_t started = 0;
    for (const auto& [id, call] : m_calls)
        started += call->startedNs != 0 ? 1U : 0U;
    return {{"ok", m_state == State::Ready}, {"state", stateName()}, {"generation", m_generation},
        {"running", started}, {"waiting", m_calls.size() - started}, {"uptime_ms", wallMs() - m_startedAt}};
}

void Keeper::observe(KeeperObserver* observer)
{
    m_observers.push_back(observer);
}

void Keeper::forget(KeeperObserver* observer)
{
    std::erase(m_observers, observer);
}

Status Keeper::admit(const CallRequest& request)
{
    if (m_state == State::Stopping)
        return fail("shutting_down", "the host is ending");
    // A call that leaves no record must not run.
    if (const auto written = writeRecords(); !written)
        return fail("no_room", "the records of earlier calls cannot be written: " + written.error().message);
    if (m_state == State::Failed)
        return fail("not_loaded", "the interface file could not be loaded");
    if (m_schema && !m_schema->find(request.fn))
        return fail(unknownFunction(*m_schema, request.fn));
    if (m_calls.size() >= static_cast<std::size_t>(m_config.limits.calls))
        return fail("busy", std::to_string(m_calls.size()) + " calls are running or waiting already");
    if (!request.id.empty()
        && (!isId(request.id) || m_calls.contains(request.id) || m_recent.hasEnded(request.id)))
        return fail("params.id", "the id of a call must be a new UUID");
    return {};
}

Result<std::string> Keeper::call(CallRequest request, CallListener listener)
{
    GB_TRY(admit(request));
    auto call = std::make_shared<Call>();
    call->request = std::move(request);
    if (call->request.id.empty())
        call->request.id = newId();
    call->listener = std::move(listener);
    call->atMs = wallMs();
    call->arrivedNs = monotonicNs();
    const std::string id = call->request.id;
    m_calls.emplace(id, call);
    if (!m_observers.empty())
        announceLater();
    if (m_state == State::Ready)
        submit(call);
    else
        m_pending.push_back(call);
    if (call->request.timeoutMs > 0) {
        call->timers.push_back(m_loop.after(call->request.timeoutMs, [this, weak = std::weak_ptr(call)] {
            if (const auto late = weak.lock())
                stop(late, "timeout", false);
        }));
    }
    return id;
}

void Keeper::submit(const CallPtr& call)
{
    const Schema::Function* function = m_schema->find(call->request.fn);
    if (!function)
        return endWithError(
            call, "error", callError("unknown_function", "there is no function of this name"));
    call->workerId = m_nextWorkerId++;
    m_byWorkerId.emplace(call->workerId, call);
    m_worker->call(call->workerId, call->request);
}

// The author's own limit runs from the moment the function does. The worker stops it by itself; what it
// cannot stop within the grace time costs the worker its life.
void Keeper::armTimeouts(const CallPtr& call)
{
    const Schema::Function* function = m_schema ? m_schema->find(call->request.fn) : nullptr;
    if (!function || function->timeoutMs <= 0)
        return;
    call->timers.push_back(m_loop.after(function->timeoutMs, [this, weak = std::weak_ptr(call)] {
        if (const auto late = weak.lock())
            stop(late, "timeout", true);
    }));
}

bool Keeper::cancel(const std::string& id, bool force)
{
    const auto it = m_calls.find(id);
    if (it == m_calls.end())
        return false;
    const CallPtr call = it->second;
    stop(call, "cancelled", force);
    return true;
}

void Keeper::abandon(const std::string& id)
{
    const auto it = m_calls.find(id);
    if (it == m_calls.end())
        return;
    const CallPtr call = it->second;
    call->listener = nullptr;
    stop(call, "cancelled", false);
}

void Keeper::stop(const CallPtr& call, const std::string& reason, bool kill)
{
    if (call->finishing)
        return;
    if (call->stopReason.empty())
        call->stopReason = reason;
    if (call->workerId == 0) {
        std::erase(m_pending, call);
        return endWithError(call, "cancelled",
            callError(call->stopReason,
                call->stopReason == "timeout" ? "the call ran out of time while it waited"
                                              : "the call was cancelled while it waited"));
    }
    m_worker->cancel(call->workerId);
    if (kill)
        killAfterGrace(call);
    else if (reason == "timeout")
        answerAfterGrace(call);
}

// A caller that has lost patience gets its answer even when the function does not stop; the function goes on,
// because ending its worker is not for a caller's timeout, and its record is written when it ends.
void Keeper::answerAfterGrace(const CallPtr& call)
{
    call->timers.push_back(m_loop.after(m_config.limits.graceMs, [this, weak = std::weak_ptr(call)] {
        const auto late = weak.lock();
        if (!late || late->finishing || !late->listener)
            return;
        auto outcome = std::make_shared<CallOutcome>();
        outcome->id = late->request.id;
        outcome->fn = late->request.fn;
        outcome->state = "cancelled";
        outcome->generation = m_generation;
        outcome->error = callError("timeout", "the call ran out of time and has not stopped yet");
        CallEvent done;
        done.outcome = std::move(outcome);
        const CallListener listener = std::exchange(late->listener, nullptr);
        listener(done);
    }));
}

void Keeper::killAfterGrace(const CallPtr& call)
{
    if (call->killing)
        return;
    call->killing = true;
    call->timers.push_back(m_loop.after(m_config.limits.graceMs, [this, weak = std::weak_ptr(call)] {
        const auto stuck = weak.lock();
        if (stuck && m_worker && stuck->workerId != 0 && !stuck->finishing)
            m_worker->kill();
    }));
}

const Call* Keeper::findRunning(const std::string& id) const
{
    const auto it = m_calls.find(id);
    return it == m_calls.end() ? nullptr : it->second.get();
}

CallOutcomePtr Keeper::findDone(const std::string& id) const
{
    return m_recent.find(id);
}

std::vector<const Call*> Keeper::running() const
{
    std::vector<const Call*> calls;
    for (const auto& [id, call] : m_calls)
        calls.push_back(call.get());
    std::sort(
        calls.begin(), calls.end(), [](const Call* a, const Call* b) { return a->arrivedNs < b->arrivedNs; });
    return calls;
}

Keeper::CallPtr Keeper::byWorkerId(std::int64_t id) const
{
    const auto it = m_byWorkerId.find(id);
    return it == m_byWorkerId.end() ? nullptr : it->second;
}

void Keeper::tell(Call& call, const CallEvent& event)
{
    if (event.kind != CallEvent::Kind::Done)
        announce(call);
    if (call.announced) {
        for (KeeperObserver* observer : m_observers)
            observer->callEvent(call, event);
    }
    // The listener may drop itself through abandon().
    if (const CallListener listener = call.listener)
        listener(event);
}

void Keeper::announce(Call& call)
{
    if (call.announced || m_observers.empty())
        return;
    call.announced = true;
    CallEvent queued;
    queued.kind = CallEvent::Kind::Queued;
    queued.data = {{"fn", call.request.fn}, {"caller", call.request.caller.toJson()}, {"at", call.atMs}};
    for (KeeperObserver* observer : m_observers)
        observer->callEvent(call, queued);
}

void Keeper::announceLater()
{
    if (m_announceTimer != 0)
        return;
    m_announceTimer = m_loop.after(announceAfterMs, [this] {
        m_announceTimer = 0;
        const std::int64_t old = monotonicNs() - announceAfterMs * 1'000'000 / 2;
        bool more = false;
        for (const Call* call : running()) {
            if (call->arrivedNs <= old)
                announce(*m_calls.at(call->request.id));
            more = more || !call->announced;
        }
        if (more)
            announceLater();
    });
}

} // namespace gb::rpc
