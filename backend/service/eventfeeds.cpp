// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "eventfeeds.h"

#include <QPointer>
#include <QTimer>

#include <backend/base/log.h>

#include "connection.h"

namespace gb::service {
namespace {

// A client that has not read this much yet gets no more for now.
constexpr std::size_t feedBehindAt = 2U << 20U;
constexpr std::size_t feedPageBytes = 512U << 10U;
constexpr int feedPageEvents = 4000;
constexpr std::size_t directLimit = 8U << 20U; // a larger batch goes in pages

} // namespace

EventFeeds::EventFeeds(Store* store, QObject* parent) : QObject(parent), m_store(store) { }

Result<std::int64_t> EventFeeds::subscribe(
    Connection* connection, const std::string& stream, std::int64_t since)
{
    const auto last = m_store->lastSeq(stream);
    if (!last)
        return fail(last.error());
    Feed& feed = m_feeds[stream][connection];
    feed.next = since < 0 ? *last + 1 : std::max<std::int64_t>(since, 1);
    feed.live = false;
    schedule(connection, stream, feed); // not now: the answer goes first
    return feed.next;
}

void EventFeeds::unsubscribe(Connection* connection, const std::string& stream)
{
    const auto feeds = m_feeds.find(stream);
    if (feeds == m_feeds.end())
        return;
    feeds->second.erase(connection);
    if (feeds->second.empty())
        m_feeds.erase(feeds);
}

void EventFeeds::drop(Connection* connection)
{
    for (auto feeds = m_feeds.begin(); feeds != m_feeds.end();) {
        feeds->second.erase(connection);
        feeds = feeds->second.empty() ? m_feeds.erase(feeds) : std::next(feeds);
    }
}

void EventFeeds::resume(Connection* connection)
{
    if (connection->unsent() > feedBehindAt / 2)
        return;
    for (auto& [stream, feeds] : m_feeds) {
        const auto feed = feeds.find(connection);
        if (feed != feeds.end() && !feed->second.live)
            schedule(connection, stream, feed->second);
    }
}

void EventFeeds::onDurable(const EventBatch& batch)
{
    const auto feeds = m_feeds.find(batch.stream);
    if (feeds == m_feeds.end())
        return;
    for (auto& [connection, feed] : feeds->second) {
        if (batch.last < feed.next)
            continue; // read from the store already
        const bool fits = batch.events->size() <= directLimit && connection->unsent() <= feedBehindAt;
        if (feed.live && feed.next == batch.first && fits) {
            send(connection, batch.stream, batch.first, *batch.events);
            feed.next = batch.last + 1;
        } else {
            feed.live = false;
            schedule(connection, batch.stream, feed);
        }
    }
}

void EventFeeds::schedule(Connection* connection, const std::string& stream, Feed& feed)
{
    if (feed.scheduled)
        return;
    feed.scheduled = true;
    QTimer::singleShot(0, connection, [this, self = QPointer<EventFeeds>(this), connection, stream] {
        if (self)
            pump(connection, stream);
    });
}

void EventFeeds::pump(Connection* connection, const std::string& stream)
{
    const auto feeds = m_feeds.find(stream);
    if (feeds == m_feeds.end())
        return;
    const auto found = feeds->second.find(connection);
    if (found == feeds->second.end())
        return;
    Feed& feed = found->second;
    feed.scheduled = false;
    if (feed.live || connection->unsent() > feedBehindAt)
        return;
    const auto page = m_store->readEvents(stream, feed.next, feedPageEvents, feedPageBytes);
    if (!page) {
        logError("service", "cannot read events: " + page.error().message, Json{{"stream", stream}});
        return connection->closeSoon(page.error());
    }
    if (page->count > 0)
        send(connection, stream, feed.next, page->events);
    feed.next = std::max(feed.next, page->next);
    feed.live = !page->more;
    if (page->more)
        schedule(connection, stream, feed); // others get their turn between two pages
}

void EventFeeds::send(
    Connection* connection, const std::string& stream, std::int64_t first, const std::string& events)
{
    std::string text;
    text.reserve(events.size() + 160);
    text += R"({"jsonrpc":"2.0","method":"events.batch","params":{"stream":)";
    text += Json(stream).dump();
    text += R"(,"first":)" + std::to_string(first) + R"(,"events":)";
    text += events;
    text += "}}";
    connection->sendText(text);
}

} // namespace gb::service
