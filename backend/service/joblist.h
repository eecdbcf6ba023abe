// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>

#include <QObject>

#include <backend/store/store.h>
#include <backend/tasks/job.h>

namespace gb::service {

class StateHub;

// Owns the daemon's jobs: shows them in the topic `jobs`, keeps their outcomes for 24 hours.
class JobList : public QObject
{
    Q_OBJECT

public:
    JobList(Store* store, StateHub* state, QObject* parent = nullptr);
    ~JobList() override;

    Json start(std::unique_ptr<Job> job); // {"job": id}
    Result<Json> get(const std::string& id) const; // the item, and `result` or `error` once it ended
    Result<Json> list() const;
    Status cancel(const std::string& id);
    // A job an earlier daemon could not end: whoever waits for it has to learn that.
    void recordInterrupted(const std::string& id, const std::string& kind, const std::string& title,
        const std::string& subject, const Error& error);
    int running() const { return static_cast<int>(m_jobs.size()); }
    // Takes what ended more than a day ago off the topic.
    void forgetOld();

Q_SIGNALS:
    void changed();

private:
    void onFinished(Job* job);

    Store* m_store;
    StateHub* m_state;
    std::map<std::string, std::unique_ptr<Job>> m_jobs;
};

} // namespace gb::service
