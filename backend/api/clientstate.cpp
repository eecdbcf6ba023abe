// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// The client's mirror: state topics and event streams.

#include "client_p.h"

namespace gb::api {

void Client::Private::watch(const std::vector<std::string>& names)
{
    std::vector<std::string> fresh;
    for (const std::string& name : names) {
        if (topics.emplace(name, Json::object()).second)
            fresh.push_back(name);
    }
    if (state == State::Connected && !fresh.empty())
        subscribeState(fresh);
}

void Client::Private::subscribeState(const std::vector<std::string>& names)
{
    channel->request("state.subscribe", Json{{"topics", names}}, [this](Result<Answer> answer) {
        if (!answer)
            return; // closed; the next connection subscribes again
        for (auto& [name, topic] : answer->body["topics"].items()) {
            topics[name] = objectOr(topic, "items");
            Q_EMIT q->stateChanged(QString::fromStdString(name));
        }
    });
}

void Client::Private::subscribe(const std::string& stream)
{
    channel->request("events.subscribe", Json{{"stream", stream}, {"since", streams[stream]}},
        [this, stream](Result<Answer> answer) {
            const auto it = streams.find(stream);
            if (answer && it != streams.end() && it->second < 0)
                it->second = integerOr(answer->body, "next");
        });
}

void Client::Private::onNotified(const Incoming& notification)
{
    const std::string& method = notification.message.method;
    if (method == "state.delta")
        return onDelta(notification.message.body);
    if (method == "events.batch")
        return onBatch(notification.message.body);
    Q_EMIT q->notified(QString::fromStdString(method), notification.message.body,
        QByteArray(notification.attachment.data(), static_cast<qsizetype>(notification.attachment.size())));
}

void Client::Private::onDelta(const Json& params)
{
    const std::string name = stringOr(params, "topic");
    const auto topic = topics.find(name);
    if (topic == topics.end())
        return;
    const Json changed = objectOr(params, "set");
    for (const auto& [id, item] : changed.items())
        topic->second[id] = item;
    if (const auto removed = params.find("removed"); removed != params.end() && removed->is_array()) {
        for (const Json& id : *removed) {
            if (id.is_string())
                topic->second.erase(id.get<std::string>());
        }
    }
    Q_EMIT q->stateChanged(QString::fromStdString(name));
}

void Client::Private::onBatch(const Json& params)
{
    const std::string stream = stringOr(params, "stream");
    const qint64 first = integerOr(params, "first");
    const auto events = params.find("events");
    const auto it = streams.find(stream);
    if (it == streams.end() || events == params.end() || !events->is_array() || events->empty())
        return;
    // A batch of a subscription that was replaced meanwhile: what is not next has been seen or will come
    // again.
    const qint64 wanted = std::max<qint64>(it->second, 1);
    if (first != wanted)
        return;
    it->second = first + static_cast<qint64>(events->size());
    Q_EMIT q->eventsArrived(QString::fromStdString(stream), first, *events);
}

} // namespace gb::api
