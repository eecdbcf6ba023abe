// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QByteArray>
#include <QObject>
#include <QString>

#include <backend/base/files.h>
#include <backend/base/json.h>

#include "answer.h"

namespace gb::api {

// One connection to the daemon, which it starts when there is none. Everything happens on the thread the
// client lives in and nothing blocks. After the daemon died it connects again (and starts one again): watched
// topics and followed streams go on where they were, mutating requests without an answer are sent again with
// the same `op`, other requests fail with "api.disconnected".
class Client : public QObject
{
    Q_OBJECT

public:
    enum class State { Closed, Connecting, Connected };
    struct Options
    {
        fs::path dataFolder; // empty: gb::dataFolder()
        std::string name = "client"; // who is calling, as records show it: "window", "cli", …
        bool startDaemon = true;
        bool reconnect = true;
        fs::path program; // gloveboxd to start; empty: looked for by daemonProgram()
    };
    using Answer = api::Answer;
    using Handler = AnswerHandler;

    explicit Client(Options options, QObject* parent = nullptr);
    ~Client() override;

    void open();
    void close(); // requests without an answer fail with "api.disconnected"
    State state() const;
    const Json& daemonInfo() const; // the daemon's answer to hello

    // Sends a request, now or once connected. The handler is called once, unless `guard` is gone by then.
    // Mutating methods get their `op` here unless params has one.
    qint64 call(
        QObject* guard, std::string method, Json params, Handler handler, std::string attachment = {});
    // The handler then gets the error "cancelled", or the answer if that was faster.
    void cancelRequest(qint64 request);

    // Mirrors these state topics from now on (adds to those already watched).
    void watch(const std::vector<std::string>& topics);
    // {id: item}; empty until the first stateChanged() of that topic.
    const Json& items(const std::string& topic) const;

    // Events of a stream from sequence number `since` on (-1: only new ones), each exactly once, through
    // eventsArrived().
    void follow(const std::string& stream, qint64 since);
    void unfollow(const std::string& stream);

Q_SIGNALS:
    void connected();
    // Also when opening failed for good: the error says why. With `reconnect` it goes on trying.
    void disconnected(const gb::Error& error);
    void stateChanged(const QString& topic);
    void eventsArrived(const QString& stream, qint64 first, const gb::Json& events);
    // What is neither state nor events, for example "calls.event".
    void notified(const QString& method, const gb::Json& params, const QByteArray& attachment);

private:
    class Private;
    std::unique_ptr<Private> d;
};

} // namespace gb::api
