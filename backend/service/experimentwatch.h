// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <list>
#include <string>

#include <QFileSystemWatcher>
#include <QTimer>

#include <backend/base/json.h>

namespace gb::service {

class StateHub;

// The topic `experiments`: what experiment.toml and .env are on disk, of the folders somebody asked about
// lately. Files are looked at on the pool, never on the daemon's own thread.
class ExperimentWatch : public QObject
{
    Q_OBJECT

public:
    explicit ExperimentWatch(StateHub* state, QObject* parent = nullptr);

    void follow(const std::string& folder);

private:
    struct Followed
    {
        std::string folder;
        bool dirty = false; // something happened in it
        bool looking = false;
    };

    void touched(const QString& path);
    void lookAll();
    void look(Followed& followed);
    void take(const std::string& folder, Json item);
    void watchFiles(const std::string& folder);
    void drop(const std::string& folder);

    StateHub* m_state;
    QFileSystemWatcher m_watcher;
    QTimer m_soon;
    std::list<Followed> m_followed; // asked about last comes first
};

} // namespace gb::service
