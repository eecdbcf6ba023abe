// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <QObject>
#include <QTimer>

#include <backend/base/json.h>

namespace gb::service {

class Connection;

// The state topics: what is now, never stored. Changes go out at most ten times a second; a client that is
// behind gets, once it has read on, the newest of everything that changed meanwhile, so a slow one costs no
// memory.
class StateHub : public QObject
{
    Q_OBJECT

public:
    explicit StateHub(std::vector<std::string> topics, QObject* parent = nullptr);

    void set(const std::string& topic, const std::string& id, Json item);
    void remove(const std::string& topic, const std::string& id);
    const std::map<std::string, Json>& items(const std::string& topic) const;

    // {topic: {"version", "items"}}; from then on the connection gets deltas.
    Result<Json> subscribe(Connection* connection, const std::vector<std::string>& topics);
    void drop(Connection* connection);
    void resume(Connection* connection); // it has read on

private:
    struct Topic
    {
        std::int64_t version = 0;
        std::map<std::string, Json> items;
        std::set<std::string> dirty;
    };
    using Behind = std::map<std::string, std::set<std::string>>; // by topic: ids the client has not heard of

    void changed(const std::string& topic, const std::string& id);
    void flush();
    void send(Connection* connection, const std::string& name, const std::set<std::string>& ids);

    std::map<std::string, Topic> m_topics;
    std::map<Connection*, Behind> m_subscribers;
    QTimer m_timer;
    std::int64_t m_flushedAt = 0;
};

} // namespace gb::service
