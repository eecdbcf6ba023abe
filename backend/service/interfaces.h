// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <vector>

#include <QObject>
#include <QTimer>

#include <backend/api/answer.h>
#include <backend/base/files.h>
#include <backend/store/store.h>

#include "keeperlink.h"
#include "reply.h"

namespace gb::service {

class StateHub;

struct CallOrder
{
    std::string interface; // id, or a name only one has
    std::string fn;
    std::string arguments; // {"args", "kwargs"}
    std::int64_t timeoutMs = 0;
    bool pin = false;
};

// The interfaces that are served: one keeper each, found again after a restart through the store's registry.
// Shows them in the topics `interfaces`, `calls` and `runs`, brings their records into the store, and runs
// calls.
class Interfaces : public QObject
{
    Q_OBJECT

public:
    Interfaces(Store* store, StateHub* state, fs::path dataFolder);

    // Keepers an earlier daemon knew, and what dead ones have left.
    Status attachAll();
    // Hosts nobody told us of: the living are taken up, what the dead have left is stored.
    void findHosts();
    void registerKeeper(const std::string& control, std::function<void(Result<Json>)> done); // the item
    // The item, once its file has been loaded or could not be; an error when it ended before.
    void whenLoaded(const std::string& id, std::function<void(Result<Json>)> done);
    // Whose interface it is, when its worker runs in a sandbox.
    void setSandboxLookup(std::function<std::string(const std::string& id)> lookup)
    {
        m_sandboxOf = std::move(lookup);
    }
    Json list() const;
    Json alive() const;
    // The item; by id, or by a name that only one live interface has.
    Result<Json> find(const std::string& interface) const;
    void request(const std::string& interface, std::string_view method, const Json& params,
        api::AnswerHandler handler);
    // The call's id is the reply's op, so that a repeat finds it.
    void run(CallOrder order, Reply reply);
    void cancel(const std::string& call, bool force, Reply reply);

Q_SIGNALS:
    void changed(); // something came or went

private:
    struct Served
    {
        KeeperRecord keeper;
        std::string run;
        Json item;
        KeeperLink* link = nullptr;
        int attempts = 0;
        bool gone = false;
        bool settled = false; // gone, and what it has left is in the store
    };
    struct Running
    {
        CallOrder order;
        Reply reply;
        bool viaRecord = false; // nobody will answer; its record will come
    };

    void attach(KeeperRecord keeper);
    void tryAttach(const std::string& id);
    void adopt(
        KeeperLink* link, const std::string& control, const Json& hello, std::function<void(Status)> done);
    void onMet(KeeperLink* link, const std::string& control, const Json& hello,
        std::function<void(Result<Json>)> done);
    void remember(const Json& hello, const std::string& control, std::function<void(Status)> done);
    void connectLink(const std::string& id, KeeperLink* link);
    void takeHello(const std::string& id, const Json& hello);
    void recordFailure(const Served& served);
    void onLinkClosed(const std::string& id);
    void onNotified(
        const std::string& id, const std::string& method, const Json& params, const QByteArray& bytes);
    void onCallEvent(const std::string& id, const Json& params, const QByteArray& bytes);
    void onCaughtUp(const std::string& id);
    void markGone(const std::string& id);
    void finishGone(const std::string& id);
    void dropRunningItems(const std::string& id);
    void publish(Served& served);

    const std::string* resolve(const std::string& interface) const;
    void startCall(const std::string& id, const std::string& interface);
    void onCallAnswered(const std::string& call, Result<api::Answer> answer);
    void resolveFromStore(const std::string& call, bool final);
    void finishCall(const std::string& call, Result<api::Answer> answer);
    void onRecordStored(const std::string& call, const std::string& run);
    void refreshRuns();

    Store* m_store;
    StateHub* m_state;
    fs::path m_dataFolder;
    std::function<std::string(const std::string& id)> m_sandboxOf;
    std::map<std::string, Served> m_served;
    std::map<std::string, std::vector<std::function<void(Result<Json>)>>> m_untilLoaded;
    std::map<std::string, Running> m_running;
    std::set<std::string> m_toPin;
    std::set<std::string> m_touchedRuns;
    QTimer m_refresh;
};

} // namespace gb::service
