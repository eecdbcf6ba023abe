// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <set>

#include <QObject>
#include <QSocketNotifier>
#include <QTimer>

#include <backend/base/fd.h>
#include <backend/models/modeldownloads.h>
#include <backend/secrets/secretstore.h>
#include <backend/settings/settings.h>
#include <backend/store/store.h>

#include "dispatcher.h"
#include "eventfeeds.h"
#include "experimentwatch.h"
#include "hubmodelsource.h"
#include "interfaces.h"
#include "joblist.h"
#include "modelwaits.h"
#include "sandboxes.h"
#include "statehub.h"

namespace gb::service {

struct DaemonOptions
{
    fs::path dataFolder;
    std::string build;
    int idleExitMs = 0; // 0: as the settings say
    SandboxProviders sandboxProviders = {};
    std::shared_ptr<HubModelSource> modelSource = {}; // what those providers fetch models from
};

// The one process that owns what must outlive a window. Whoever makes one holds the lock of the data folder.
class Daemon : public QObject
{
    Q_OBJECT

public:
    static Result<std::unique_ptr<Daemon>> create(DaemonOptions options);
    ~Daemon() override;

    Json info() const; // what daemon.hello tells
    Json status() const;
    Json alive() const; // why it must not leave: [{"kind", "id", "title"}]
    bool isReplaceable(const Connection* by) const; // nothing is alive, and nobody else is connected
    void greet(Connection* connection, Caller caller, std::map<std::string, std::string> environment);
    // Lets everyone go and leaves. Mutations under way are taken up by the next daemon.
    void stop();

    const Dispatcher& dispatcher() const { return m_dispatcher; }

Q_SIGNALS:
    void finished();

private:
    Daemon(DaemonOptions options, std::unique_ptr<Store> store, Settings settings);

    Status listen();
    void accept();
    void onClosed(Connection* connection);
    void bindMethods();
    void connectParts();
    Status openSecrets();
    Status openModels();
    void considerLeaving();
    void publish();
    void tidyUp();
    int idleExitMs() const;

    DaemonOptions m_options;
    std::int64_t m_startedAt;
    std::unique_ptr<Store> m_store;
    Settings m_settings;
    StateHub m_state;
    EventFeeds m_feeds;
    JobList m_jobs;
    Dispatcher m_dispatcher;
    ExperimentWatch m_experiments;
    std::unique_ptr<Interfaces> m_interfaces;
    std::unique_ptr<SecretStore> m_secrets;
    std::unique_ptr<ModelDownloads> m_models;
    std::unique_ptr<ModelWaits> m_modelWaits;
    std::unique_ptr<Sandboxes> m_sandboxes;

    fs::path m_socketPath;
    UniqueFd m_listener;
    std::unique_ptr<QSocketNotifier> m_acceptable;
    std::set<Connection*> m_connections;
    QTimer m_idle;
    QTimer m_tidy;
    bool m_stopping = false;
};

} // namespace gb::service
