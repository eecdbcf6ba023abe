// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <QLocalServer>

#include <backend/api/channel.h>
#include <backend/base/paths.h>
#include <backend/base/version.h>

namespace gb::test {

// Speaks the daemon's API to real clients and answers as the test says. For states that a real daemon cannot
// be brought into at will, and for pages that are measured by themselves.
class FakeDaemon final : public QLocalServer
{
public:
    using Handler = std::function<Result<api::Answer>(const Json& params, const std::string& attachment)>;

    explicit FakeDaemon(const fs::path& dataFolder)
    {
        const auto path = daemonSocket(dataFolder);
        if (!path)
            qFatal("%s", path.error().message.c_str());
        setSocketOptions(QLocalServer::UserAccessOption);
        if (!listen(QString::fromStdString(path->string())))
            qFatal("%s", qPrintable(errorString()));
        on("daemon.hello", Json{{"protocol", 1}, {"version", "0"}, {"pid", 1}, {"replaceable", false}});
    }

    void on(const std::string& method, Handler handler) { m_handlers[method] = std::move(handler); }
    void on(const std::string& method, Json answer)
    {
        m_handlers[method] = [answer = std::move(answer)](const Json&, const std::string&) {
            return api::Answer{answer, {}};
        };
    }
    // Sets one item of a topic, or removes it (null).
    void setItem(const std::string& topic, const std::string& id, const Json& item)
    {
        auto& known = m_topics[topic];
        Json delta{
            {"topic", topic}, {"version", ++m_version}, {"set", Json::object()}, {"removed", Json::array()}};
        if (item.is_null()) {
            known.erase(id);
            delta["removed"].push_back(id);
        } else {
            known[id] = item;
            delta["set"][id] = item;
        }
        for (auto* channel : m_channels)
            channel->notify("state.delta", delta);
    }
    void notify(const std::string& method, const Json& params, const std::string& attachment = {})
    {
        for (auto* channel : m_channels)
            channel->notify(method, params, attachment);
    }
    // How often a method was asked, and with what the last time.
    int asked(const std::string& method) const
    {
        const auto found = m_asked.find(method);
        return found == m_asked.end() ? 0 : found->second;
    }
    Json last(const std::string& method) const
    {
        const auto found = m_last.find(method);
        return found == m_last.end() ? Json() : found->second;
    }

protected:
    void incomingConnection(quintptr descriptor) override
    {
        auto* channel = new api::Channel(UniqueFd(static_cast<int>(descriptor)), this);
        m_channels.push_back(channel);
        connect(channel, &api::Channel::requested, this,
            [this, channel](api::Incoming& request) { answer(*channel, request); });
        connect(channel, &api::Channel::closed, this, [this, channel] {
            std::erase(m_channels, channel);
            channel->deleteLater();
        });
    }

private:
    void answer(api::Channel& channel, const api::Incoming& request)
    {
        const auto& message = request.message;
        const auto id = message.id;
        ++m_asked[message.method];
        m_last[message.method] = message.body;
        if (message.method == "state.subscribe") {
            Json topics = Json::object();
            for (const auto& name : message.body["topics"]) {
                const auto known = m_topics.find(name.get<std::string>());
                topics[name.get<std::string>()] = Json{{"version", m_version},
                    {"items", known == m_topics.end() ? Json::object() : known->second}};
            }
            return channel.answer(id, Json{{"topics", topics}});
        }
        const auto found = m_handlers.find(message.method);
        if (found == m_handlers.end())
            return channel.refuse(id, Error{"rpc.no_method", "there is no method " + message.method});
        const auto result = found->second(message.body, request.attachment);
        result ? channel.answer(id, result->body, result->attachment) : channel.refuse(id, result.error());
    }

    std::map<std::string, Handler> m_handlers;
    std::map<std::string, Json> m_topics;
    std::map<std::string, int> m_asked;
    std::map<std::string, Json> m_last;
    std::vector<api::Channel*> m_channels;
    std::int64_t m_version = 1;
};

} // namespace gb::test
