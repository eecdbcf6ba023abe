// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "keeper.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/epoll.h>
#include <sys/socket.h>

#include <backend/base/json.h>
#include <backend/base/log.h>

#include "worker_box.h"

// The worker's life: start, load, reload, death.
namespace gb::rpc {

Status Keeper::start()
{
    return startWorker();
}

Worker::Handlers Keeper::workerHandlers()
{
    Worker::Handlers handlers;
    handlers.loaded = [this](const Json& header, const SharedText& schema) { onLoaded(header, schema); };
    handlers.loadFailed = [this](const Json& header) { onLoadFailed(header); };
    handlers.result = [this](WorkerResult& result) { onResult(result); };
    handlers.event = [this](const Json& header, const SharedText& text, std::vector<UniqueFd> fds) {
        onWorkerEvent(header, text, std::move(fds));
    };
    handlers.tensorData = [this](const Json& header, const SharedText& bytes, std::vector<UniqueFd> fds) {
        onTensorData(header, bytes, std::move(fds));
    };
    handlers.printed = [this](const char* stream, std::string_view text) {
        for (KeeperObserver* observer : m_observers)
            observer->printed(stream, text);
    };
    handlers.exited = [this](const WorkerExit& exit) { onExited(exit); };
    return handlers;
}

Status Keeper::startWorker()
{
    m_loaded = false;
    auto worker = Worker::start(m_loop, m_config, m_generation + 1, workerHandlers());
    if (!worker)
        return fail(worker.error());
    m_worker = std::move(*worker);
    ++m_generation;
    return {};
}

void Keeper::setState(State state)
{
    if (m_state == State::Stopping)
        return;
    m_state = state;
    for (KeeperObserver* observer : m_observers)
        observer->stateChanged();
}

void Keeper::onLoaded(const Json& header, const SharedText& schema)
{
    const std::string how = stringOr(header, "how");
    Json answer{{"how", how}, {"ms", numberOr(header, "ms")}, {"generation", m_generation}};
    if (how == "restart_needed") {
        m_replacing = true;
        setState(State::Restarting);
        logInfo("keeper", "a fresh worker is needed", {{"reason", stringOr(header, "reason")}});
        return replaceWorkerWhenIdle();
    }
    auto parsed = Schema::parse(std::string(schema.view()));
    if (!parsed) {
        logError("keeper", "the worker sent a schema that cannot be read", parsed.error().toJson());
        return m_worker->kill();
    }
    m_schema = std::move(*parsed);
    m_loadError = nullptr;
    m_loaded = true;
    setState(State::Ready);
    answerReload(answer);
    std::deque<CallPtr> waiting;
    waiting.swap(m_pending);
    for (const CallPtr& call : waiting)
        submit(call);
}

void Keeper::onLoadFailed(const Json& header)
{
    const Json error = objectOr(header, "error");
    const bool reloading = stringOr(header, "how") == "reload";
    answerReload(fail("load_failed", stringOr(error, "message"), error));
    // After a failed reload the worker still serves what it had.
    if (reloading && m_loaded)
        return setState(State::Ready);
    m_loadError = error;
    setState(State::Failed);
    failPending("not_loaded", "the interface file could not be loaded: " + stringOr(error, "message"));
}

void Keeper::onExited(const WorkerExit& exit)
{
    const bool replacing = std::exchange(m_replacing, false);
    const bool wasLoaded = m_loaded;
    m_worker.reset();
    m_tensors.forgetDevices();
    failTensorReads();
    loseCalls(exit);
    if (m_state == State::Stopping) {
        if (const auto stopped = std::exchange(m_stopped, nullptr))
            stopped();
        return;
    }
    // A worker that dies while it loads would do so again; the next reload tries.
    if (exit.sandboxGone || (!wasLoaded && !replacing)) {
        m_loadError = callError(
            "worker_died", exit.sentence() + (exit.sandboxGone ? "" : " while it loaded the interface file"));
        m_loadError["worker"] = exit.toJson();
        answerReload(fail("load_failed", stringOr(m_loadError, "message"), m_loadError));
        setState(State::Failed);
        failPending("not_loaded", stringOr(m_loadError, "message"));
        return exit.sandboxGone ? endWithSandbox() : watchSandbox();
    }
    if (!replacing)
        logWarning("keeper", exit.sentence(), exit.toJson());
    setState(State::Restarting);
    if (const auto started = startWorker(); !started) {
        m_loadError = callError("worker_died", started.error().message);
        answerReload(fail("load_failed", started.error().message, m_loadError));
        setState(State::Failed);
        failPending("not_loaded", started.error().message);
        if (!m_config.workerVia.empty())
            endWithSandbox();
    }
}

void Keeper::endWithSandbox()
{
    if (m_sandboxGone)
        m_sandboxGone();
}

// Where a worker died while it loaded there is none whose end would tell of the sandbox's.
void Keeper::watchSandbox()
{
    if (m_config.workerVia.empty() || m_sandboxLink.valid())
        return;
    auto link = connectToSandbox(m_config.workerVia);
    if (!link)
        return endWithSandbox();
    m_sandboxLink = std::move(*link);
    m_sandboxWatch = m_loop.watch(m_sandboxLink.get(), EPOLLIN, [this](std::uint32_t) {
        std::array<char, 4096> ignored{};
        const ssize_t got = ::recv(m_sandboxLink.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
        if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
            return;
        m_loop.unwatch(m_sandboxWatch);
        m_sandboxLink.reset();
        if (!m_worker) // a later one tells of it
            endWithSandbox();
    });
}

// Functions without concurrency run one after another: while an earlier one is unfinished, a later one has
// not begun and may be given to the next worker as if nothing had happened.
bool Keeper::neverRan(const Call& call) const
{
    const auto inOrder = [this](const Call& other) {
        const Schema::Function* function = m_schema ? m_schema->find(other.request.fn) : nullptr;
        return function && function->concurrency == 1;
    };
    if (call.startedNs != 0 || !call.stopReason.empty() || !inOrder(call))
        return false;
    return std::any_of(m_byWorkerId.begin(), m_byWorkerId.end(), [&](const auto& entry) {
        const Call& other = *entry.second;
        return other.workerId < call.workerId && !other.finishing && inOrder(other);
    });
}

void Keeper::loseCalls(const WorkerExit& exit)
{
    std::vector<CallPtr> again;
    std::vector<CallPtr> lost;
    for (const auto& [id, call] : m_byWorkerId) {
        if (!call->finishing)
            (neverRan(*call) ? again : lost).push_back(call);
    }
    const auto byAge = [](const CallPtr& a, const CallPtr& b) { return a->workerId < b->workerId; };
    std::sort(again.begin(), again.end(), byAge);
    std::sort(lost.begin(), lost.end(), byAge);
    for (const CallPtr& call : again) {
        m_byWorkerId.erase(call->workerId);
        call->workerId = 0;
    }
    m_pending.insert(m_pending.begin(), again.begin(), again.end());
    for (const CallPtr& call : lost) {
        const bool stopping = m_state == State::Stopping;
        const bool killed = call->killing && exit.signal == 9;
        Json error = killed
            ? callError(call->stopReason, "the call did not stop by itself and its worker was ended")
            : stopping ? callError("shutting_down", "the host ended while the call ran")
                       : callError("worker_died", exit.sentence());
        error["worker"] = exit.toJson();
        endWithError(call, killed ? "killed" : stopping ? "lost" : "error", std::move(error));
    }
}

void Keeper::failPending(const std::string& kind, const std::string& message)
{
    std::deque<CallPtr> waiting;
    waiting.swap(m_pending);
    for (const CallPtr& call : waiting)
        endWithError(call, "error", callError(kind, message));
}

void Keeper::reload(ReloadHandler handler)
{
    if (m_state == State::Stopping)
        return handler(fail("shutting_down", "the host is ending"));
    m_reloads.push_back(std::move(handler));
    if (m_reloads.size() > 1 || m_state == State::Loading || m_state == State::Restarting)
        return; // answered by the load that is under way
    if (m_state == State::Ready)
        return m_worker->reload();
    setState(State::Loading);
    if (m_worker) {
        m_replacing = true;
        return m_worker->kill();
    }
    if (const auto started = startWorker(); !started) {
        setState(State::Failed);
        answerReload(fail(started.error()));
        watchSandbox();
    }
}

void Keeper::answerReload(const Result<Json>& answer)
{
    std::vector<ReloadHandler> handlers;
    handlers.swap(m_reloads);
    for (const ReloadHandler& handler : handlers)
        handler(answer);
}

// The old worker ends its calls first; new ones wait for the fresh one.
void Keeper::replaceWorkerWhenIdle()
{
    if (m_replacing && m_byWorkerId.empty() && m_worker)
        m_worker->kill();
}

void Keeper::shutdown(std::function<void()> done)
{
    if (m_state == State::Stopping)
        return;
    setState(State::Stopping);
    m_state = State::Stopping;
    failPending("shutting_down", "the host ended before the call ran");
    answerReload(fail("shutting_down", "the host is ending"));
    if (!m_worker)
        return done();
    m_stopped = std::move(done);
    m_worker->shutdown();
    m_loop.after(m_config.limits.graceMs, [this] {
        if (m_worker)
            m_worker->kill();
    });
}

} // namespace gb::rpc
