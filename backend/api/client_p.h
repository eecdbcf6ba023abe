// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include <QPointer>
#include <QTimer>

#include "channel.h"
#include "client.h"

namespace gb::api {

class Client::Private
{
public:
    struct Pending
    {
        std::string method;
        Json params;
        std::string attachment;
        Handler handler;
        QPointer<QObject> guard;
        bool guarded = false;
        bool repeatable = false;
        std::int64_t sent = 0; // its id on the channel; 0: not sent yet
    };

    Private(Client* client, Options given);

    void open();
    void close();
    qint64 call(Pending pending);
    void cancel(qint64 id);
    void watch(const std::vector<std::string>& names);
    void subscribe(const std::string& stream);

    Client* q;
    Options options;
    State state = State::Closed;
    Channel* channel = nullptr; // child of q
    Json daemonInfo = Json::object();
    std::map<std::string, Json> topics;
    std::map<std::string, qint64> streams; // the next sequence number wanted

private:
    void tryConnect();
    void failOpening(const Error& error);
    void sayHello(UniqueFd socket);
    void onHello(Json info, const std::string& ownBuild);
    void onClosed(const Error& reason);
    void onNotified(const Incoming& notification);
    void onDelta(const Json& params);
    void onBatch(const Json& params);
    void dropChannel();
    void send(qint64 id, Pending& pending);
    void answered(qint64 id, Result<Answer> answer);
    // False: a handler deleted the client.
    bool failLost();
    bool failAll(const Error& error);
    bool failThese(const std::vector<qint64>& ids, const Error& error);
    void subscribeState(const std::vector<std::string>& names);

    QTimer retry;
    int retryMs = 0;
    std::int64_t deadline = 0;
    std::int64_t startedAt = 0;
    qint64 nextRequest = 1;
    std::map<qint64, Pending> requests;
};

} // namespace gb::api
