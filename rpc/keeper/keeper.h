// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "background.h"
#include "call.h"
#include "hostconfig.h"
#include "loop.h"
#include "recentcalls.h"
#include "schema.h"
#include "spool.h"
#include "tensor.h"
#include "tokens.h"
#include "worker.h"

namespace gb::rpc {

// Told of what happens in a keeper; the control link and the HTTP event stream are ones.
class KeeperObserver
{
public:
    KeeperObserver() = default;
    KeeperObserver(const KeeperObserver&) = delete;
    KeeperObserver& operator=(const KeeperObserver&) = delete;
    virtual ~KeeperObserver() = default;

    virtual void stateChanged() = 0;
    // Not for calls that are over within some milliseconds: their record says everything.
    virtual void callEvent(const Call& call, const CallEvent& event) = 0;
    virtual void recordStored(std::uint64_t seq, const CallOutcome& outcome, const Frame& frame) = 0;
    virtual void printed(const char* stream, std::string_view text) = 0;
};

// The core of an interface host: one worker at a time, the calls on their way through it, their records. What
// it answers about itself never waits for the worker.
class Keeper
{
public:
    enum class State { Loading, Ready, Failed, Restarting, Stopping };
    using ReloadHandler = std::function<void(const Result<Json>&)>;

    static Result<std::unique_ptr<Keeper>> create(Loop& loop, HostConfig config);
    ~Keeper();

    Status start();
    // Ends running calls (their records say so) and the worker, then calls done.
    void shutdown(std::function<void()> done);

    const HostConfig& config() const { return m_config; }
    Loop& loop() { return m_loop; }
    Tokens& tokens() { return m_tokens; }
    Spool& spool() { return *m_spool; }

    State state() const { return m_state; }
    const char* stateName() const;
    const Json& loadError() const { return m_loadError; }
    int generation() const { return m_generation; }
    std::int64_t startedAt() const { return m_startedAt; }
    std::shared_ptr<const Schema> schema() const { return m_schema; } // null before the first load
    Json health() const;

    // Refuses (unknown_function, busy, not_loaded, shutting_down) or answers the id and later calls the
    // listener.
    Result<std::string> call(CallRequest request, CallListener listener);
    // Cooperative; with force the worker is killed when the call has not ended after the grace time.
    bool cancel(const std::string& id, bool force);
    // The caller has gone: its listener is dropped and the call asked to stop.
    void abandon(const std::string& id);
    const Call* findRunning(const std::string& id) const;
    CallOutcomePtr findDone(const std::string& id) const; // of the last calls
    std::vector<const Call*> running() const;

    void reload(ReloadHandler handler);

    // The tensor with its bytes, or handle_gone. A slice of one that lives on a device is cut there.
    using TensorHandler = std::function<void(const Result<TensorPtr>&)>;
    void tensor(const std::string& handle, const std::string& slice, TensorHandler handler);
    TensorPtr tensorHere(const std::string& handle) { return m_tensors.get(handle); }
    bool releaseTensor(const std::string& handle);
    Background& background() { return m_background; }

    // The sandbox in which the worker lived has ended: there will be no other.
    void onSandboxGone(std::function<void()> then) { m_sandboxGone = std::move(then); }

    void observe(KeeperObserver* observer);
    void forget(KeeperObserver* observer);

private:
    using CallPtr = std::shared_ptr<Call>;

    Keeper(Loop& loop, HostConfig config)
        : m_loop(loop), m_config(std::move(config)), m_tensors(m_config.limits.tensorBytes),
          m_background(loop)
    { }

    struct Unwritten // a record for which there was no room yet
    {
        RecordText text;
        std::shared_ptr<CallOutcome> outcome;
    };
    struct Finished // a call whose answer is there but not yet looked at
    {
        std::shared_ptr<CallOutcome> outcome = std::make_shared<CallOutcome>();
        JsonShape resultShape;
        std::string digest;
        std::vector<TensorPtr> tensors;
    };

    // keeper_worker.cpp: the worker's life
    Status startWorker();
    Worker::Handlers workerHandlers();
    void setState(State state);
    void onLoaded(const Json& header, const SharedText& schema);
    void onLoadFailed(const Json& header);
    void onExited(const WorkerExit& exit);
    void failPending(const std::string& kind, const std::string& message);
    void answerReload(const Result<Json>& answer);
    void replaceWorkerWhenIdle();
    void endWithSandbox();
    void watchSandbox();
    void loseCalls(const WorkerExit& exit);
    bool neverRan(const Call& call) const;

    // keeper.cpp: calls
    Status admit(const CallRequest& request);
    void submit(const CallPtr& call);
    void armTimeouts(const CallPtr& call);
    void stop(const CallPtr& call, const std::string& reason, bool kill);
    void killAfterGrace(const CallPtr& call);
    void answerAfterGrace(const CallPtr& call);
    void tell(Call& call, const CallEvent& event);
    void announce(Call& call);
    void announceLater();
    CallPtr byWorkerId(std::int64_t id) const;

    // keeper_tensors.cpp
    Result<std::vector<TensorPtr>> adoptTensors(const Json& headers, std::vector<UniqueFd> descriptors);
    void takeTensors(Finished& finished, WorkerResult& result);
    void onTensorData(const Json& header, const SharedText& bytes, std::vector<UniqueFd> fds);
    void failTensorReads();

    // keeper_finish.cpp: ends of calls
    void onWorkerEvent(const Json& header, const SharedText& attachment, std::vector<UniqueFd> fds);
    bool takeItem(
        Call& call, CallEvent& event, const Json& header, const SharedText& text, std::vector<UniqueFd> fds);
    void gatherItems(const Call& call, CallOutcome& outcome) const;
    void onResult(WorkerResult& result);
    void endWithError(const CallPtr& call, const std::string& state, Json error);
    void examine(Finished& finished) const;
    void complete(const CallPtr& call, Finished& finished);
    void store(const Call& call, const Finished& finished);
    Status writeRecords();
    void takeOutput(Call& call, const char* stream, const SharedText& text);

    Loop& m_loop;
    HostConfig m_config;
    UniqueFd m_lock; // of the folder, for life
    TensorStore m_tensors;
    Background m_background;
    Tokens m_tokens;
    std::unique_ptr<Spool> m_spool;
    std::deque<Unwritten> m_unwritten;
    std::uint64_t m_writeTimer = 0;
    bool m_withoutRoom = false; // and said so
    State m_state = State::Loading;
    Json m_loadError;
    int m_generation = 0;
    std::int64_t m_startedAt = 0;
    std::shared_ptr<const Schema> m_schema;
    std::unique_ptr<Worker> m_worker;
    bool m_loaded = false; // the present worker has the interface
    bool m_replacing = false;
    std::vector<ReloadHandler> m_reloads;
    std::function<void()> m_stopped;
    std::function<void()> m_sandboxGone;
    UniqueFd m_sandboxLink; // says nothing, and breaks with the sandbox
    std::uint64_t m_sandboxWatch = 0;

    std::unordered_map<std::int64_t, TensorHandler> m_tensorReads;
    std::int64_t m_nextWorkerId = 1;
    std::unordered_map<std::string, CallPtr> m_calls;
    std::unordered_map<std::int64_t, CallPtr> m_byWorkerId;
    std::deque<CallPtr> m_pending; // waiting for a worker that is ready
    RecentCalls m_recent;
    std::uint64_t m_announceTimer = 0;
    std::vector<KeeperObserver*> m_observers;
};

} // namespace gb::rpc
