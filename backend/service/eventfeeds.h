// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include <QObject>

#include <backend/store/store.h>

namespace gb::service {

class Connection;

// Event streams to clients: stored ones from `since` on, then live ones as they become durable. Who reads
// slowly is left alone and later fed from the store, so that nothing is skipped and nothing piles up here.
class EventFeeds : public QObject
{
    Q_OBJECT

public:
    explicit EventFeeds(Store* store, QObject* parent = nullptr);

    // The sequence number of the next event the connection will get; since < 1 asks for -1: new ones, 0: all.
    Result<std::int64_t> subscribe(Connection* connection, const std::string& stream, std::int64_t since);
    void unsubscribe(Connection* connection, const std::string& stream);
    void drop(Connection* connection);
    void resume(Connection* connection); // it has read on
    void onDurable(const EventBatch& batch);

private:
    struct Feed
    {
        std::int64_t next = 1;
        bool live = false; // everything stored has been sent: the next batch may go directly
        bool scheduled = false;
    };

    void schedule(Connection* connection, const std::string& stream, Feed& feed);
    void pump(Connection* connection, const std::string& stream);
    static void send(
        Connection* connection, const std::string& stream, std::int64_t first, const std::string& events);

    Store* m_store;
    std::map<std::string, std::map<Connection*, Feed>> m_feeds; // by stream
};

} // namespace gb::service
