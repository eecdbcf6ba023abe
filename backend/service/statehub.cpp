// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "statehub.h"

#include <algorithm>
#include <utility>

#include <backend/base/clock.h>

#include "connection.h"

namespace gb::service {
namespace {

constexpr std::int64_t stateIntervalMs = 100;
constexpr std::size_t stateBehindAt = 1U << 20U; // unsent bytes from which a client is left alone for now

} // namespace

StateHub::StateHub(std::vector<std::string> topics, QObject* parent) : QObject(parent)
{
    for (std::string& name : topics)
        m_topics[std::move(name)];
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &StateHub::flush);
}

void StateHub::set(const std::string& topic, const std::string& id, Json item)
{
    Json& current = m_topics.at(topic).items[id];
    if (current == item)
        return;
    current = std::move(item);
    changed(topic, id);
}

void StateHub::remove(const std::string& topic, const std::string& id)
{
    if (m_topics.at(topic).items.erase(id) > 0)
        changed(topic, id);
}

const std::map<std::string, Json>& StateHub::items(const std::string& topic) const
{
    return m_topics.at(topic).items;
}

void StateHub::changed(const std::string& topic, const std::string& id)
{
    m_topics.at(topic).dirty.insert(id);
    if (m_timer.isActive())
        return;
    const std::int64_t since = monotonicNs() / 1'000'000 - m_flushedAt;
    m_timer.start(static_cast<int>(std::max<std::int64_t>(0, stateIntervalMs - since)));
}

void StateHub::flush()
{
    m_flushedAt = monotonicNs() / 1'000'000;
    for (auto& [name, topic] : m_topics) {
        if (topic.dirty.empty())
            continue;
        ++topic.version;
        for (auto& [connection, behind] : m_subscribers) {
            if (const auto mine = behind.find(name); mine != behind.end())
                mine->second.insert(topic.dirty.begin(), topic.dirty.end());
        }
        topic.dirty.clear();
    }
    // A connection may be dropped while it is written to, which changes the map.
    std::vector<Connection*> all;
    for (const auto& [connection, behind] : m_subscribers)
        all.push_back(connection);
    for (Connection* connection : all)
        resume(connection);
}

void StateHub::resume(Connection* connection)
{
    const auto subscriber = m_subscribers.find(connection);
    if (subscriber == m_subscribers.end() || connection->unsent() > stateBehindAt)
        return;
    for (auto& [name, ids] : subscriber->second) {
        if (!ids.empty())
            send(connection, name, std::exchange(ids, {}));
    }
}

void StateHub::send(Connection* connection, const std::string& name, const std::set<std::string>& ids)
{
    const Topic& topic = m_topics.at(name);
    Json changedItems = Json::object();
    Json removed = Json::array();
    for (const std::string& id : ids) {
        if (const auto item = topic.items.find(id); item != topic.items.end())
            changedItems.emplace(id, Json(item->second));
        else
            removed.push_back(id);
    }
    connection->notify("state.delta",
        Json{{"topic", name}, {"version", topic.version}, {"set", std::move(changedItems)},
            {"removed", std::move(removed)}});
}

Result<Json> StateHub::subscribe(Connection* connection, const std::vector<std::string>& topics)
{
    for (const std::string& name : topics) {
        if (!m_topics.contains(name))
            return fail("state.unknown_topic", "there is no topic " + name, Json{{"topic", name}});
    }
    Json answer = Json::object();
    for (const std::string& name : topics) {
        const Topic& topic = m_topics.at(name);
        m_subscribers[connection][name].clear();
        Json all = Json::object();
        for (const auto& [id, item] : topic.items)
            all.emplace(id, Json(item));
        answer[name] = Json{{"version", topic.version}, {"items", std::move(all)}};
    }
    return answer;
}

void StateHub::drop(Connection* connection)
{
    m_subscribers.erase(connection);
}

} // namespace gb::service
