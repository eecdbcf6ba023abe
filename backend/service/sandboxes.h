// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include <QObject>
#include <QPointer>
#include <QThreadPool>
#include <QTimer>

#include <backend/api/answer.h>
#include <backend/sandbox/sandboxprovider.h>
#include <backend/tasks/threadjob.h>

#include "boxlink.h"
#include "reply.h"

namespace gb::service {

class Interfaces;
class JobList;
class StateHub;

using SandboxProviders = std::vector<std::shared_ptr<SandboxProvider>>;

// The sandboxes of this data folder: intent before creation, one state machine for all providers, links to
// the keepers that live, a comparison with what exists at start and every minute. Shows them in the topic
// `sandboxes`. It lives on the daemon's thread; providers run on a pool of its own, because they may hang.
class Sandboxes : public QObject
{
    Q_OBJECT

public:
    struct Parts
    {
        StateHub* state = nullptr;
        JobList* jobs = nullptr;
        Interfaces* interfaces = nullptr;
        fs::path dataFolder;
    };
    Sandboxes(Parts parts, SandboxProviders providers);
    ~Sandboxes() override;

    // Reads the records and begins to compare them with what exists.
    Status open();

    const SandboxProviders& providers() const { return m_providers; }
    std::shared_ptr<SandboxProvider> provider(const std::string& id) const;

    // {job, sandbox}. The request's id is the sandbox's; one that is known already is answered as before.
    Result<Json> start(SandboxRequest request);
    // {job}: ended when nothing of it runs any more.
    Result<Json> stop(const std::string& sandbox);
    void remove(const std::string& sandbox, Reply reply);
    void serve(const std::string& sandbox, ServeOrder order, bool wait, Reply reply);

    Json list() const;
    Result<Json> get(const std::string& sandbox) const;
    Json alive() const;
    // An id, or a name only one live sandbox has.
    Result<SandboxRecord> find(const std::string& sandbox) const;
    std::vector<SandboxRecord> wanted() const; // whose layers must stay
    // Names of those that are alive and show this model of the hub's cache.
    std::vector<std::string> usersOf(const std::string& model) const;
    fs::path folderOf(const std::string& id) const { return m_parts.dataFolder / "boxes" / id; }

    // Asks the keeper; waits a moment for one that is being found again.
    void request(const std::string& sandbox, std::string method, Json params, api::AnswerHandler handler,
        std::string attachment = {});
    // Once the keeper can be asked, or with why it cannot.
    void whenLinked(const std::string& id, std::function<void(Status)> then);
    void extend(const std::string& sandbox, std::int64_t seconds, api::AnswerHandler handler);
    // A link for one command whose output is pushed.
    Result<BoxLink*> openLink(const std::string& id);
    // On the pool; the answer comes on the daemon's thread.
    void work(Reply reply, std::function<Result<Json>()> task);

Q_SIGNALS:
    void changed(); // something came or went

private:
    class StopJob;
    class Watch;
    struct StepProgress
    {
        PlanStep step;
        std::string state = "waiting";
        std::int64_t startedAt = 0;
        std::int64_t endedAt = 0;
    };
    struct Box
    {
        BoxLink* link = nullptr;
        fs::path control;
        int attempts = 0; // since the last greeting
        std::string startJob;
        std::vector<StepProgress> steps;
        std::vector<QPointer<StopJob>> stops;
        bool terminating = false;
        std::int64_t endsAt = 0;
        bool isEnding = false; // its keeper has warned that the time is nearly over
        Json limits = Json::object(); // which are enforced, as the keeper says
        std::string endReason; // as the keeper told it
        std::vector<std::function<void(Status)>> waiting; // for the link
    };

    // creation
    std::unique_ptr<ThreadJob> makeStartJob(std::shared_ptr<const SandboxRequest> request);
    void onSteps(const std::string& id, const std::vector<PlanStep>& steps);
    void onStep(const std::string& id, std::size_t index);
    void onStartEnded(const std::string& id, Job* job);
    Json closedSteps(const std::string& id, const std::string& lastState);
    // ending
    void terminate(const std::string& id);
    void onTerminated(const std::string& id, const Status& status);
    void finishStops(const std::string& id, const Result<Json>& outcome);
    void finishStopsWhenUnserved(const std::string& id, int looks);
    void onGone(const std::string& id);
    void recordEnd(const std::string& id, const std::string& reason);
    // existing
    void reconcile(const std::shared_ptr<SandboxProvider>& provider, bool isStart);
    void onListed(const std::string& provider, bool isStart, const SandboxRegistry::States& before,
        const Result<std::vector<FoundSandbox>>& found);
    void reap(const FoundSandbox& found, const std::string& provider);
    void interrupt(const std::string& id);
    void attach(const std::string& id);
    void connectTo(const std::string& id, const fs::path& control);
    void onGreeted(const std::string& id, const Json& hello);
    void onNotified(const std::string& id, const api::Incoming& notification);
    void onLinkClosed(const std::string& id);
    void flushWaiting(const std::string& id, const Status& status);

    void transition(const std::string& id, SandboxState state, const std::string& reason = {},
        const RecordChange& change = {});
    void setDetail(const std::string& id, const std::string& name, const Json& value);
    void publish(const std::string& id);
    Json item(const SandboxRecord& record) const;
    Json interfacesOf(const std::string& id) const;
    void onPool(std::function<void()> task);
    // Calls on the daemon's thread, from the pool.
    void post(std::function<void()> task);

    Parts m_parts;
    SandboxProviders m_providers;
    std::unique_ptr<SandboxRegistry> m_registry;
    std::map<std::string, Box> m_boxes;
    std::set<std::string> m_unlisted; // providers that have not yet told what exists
    std::set<std::string> m_listing;
    std::shared_ptr<std::atomic<bool>> m_leaving = std::make_shared<std::atomic<bool>>(false);
    QThreadPool m_pool;
    QTimer m_minute;
};

} // namespace gb::service
