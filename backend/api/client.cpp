// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "client_p.h"

#include <unistd.h>
#include <utility>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/paths.h>
#include <backend/base/version.h>

#include "daemonstart.h"
#include "methods.h"

namespace gb::api {
namespace {

constexpr std::int64_t openFor = 15'000'000'000; // ns until an attempt to reach a daemon counts as failed
constexpr std::int64_t startAgainAfter = 3'000'000'000;
constexpr int firstRetryMs = 5;
constexpr int lastRetryMs = 250;
constexpr int idleRetryMs = 1000;

} // namespace

Client::Client(Options options, QObject* parent)
    : QObject(parent), d(std::make_unique<Private>(this, std::move(options)))
{ }

Client::~Client() = default;

void Client::open()
{
    if (d->state == State::Closed)
        d->open();
}

void Client::close()
{
    d->close();
}

Client::State Client::state() const
{
    return d->state;
}

const Json& Client::daemonInfo() const
{
    return d->daemonInfo;
}

qint64 Client::call(QObject* guard, std::string method, Json params, Handler handler, std::string attachment)
{
    return d->call({std::move(method), std::move(params), std::move(attachment), std::move(handler),
        QPointer<QObject>(guard), guard != nullptr});
}

void Client::cancelRequest(qint64 request)
{
    d->cancel(request);
}

void Client::watch(const std::vector<std::string>& topics)
{
    d->watch(topics);
}

const Json& Client::items(const std::string& topic) const
{
    static const Json none = Json::object();
    const auto it = d->topics.find(topic);
    return it == d->topics.end() ? none : it->second;
}

void Client::follow(const std::string& stream, qint64 since)
{
    d->streams[stream] = since;
    if (d->state == State::Connected)
        d->subscribe(stream);
}

void Client::unfollow(const std::string& stream)
{
    if (d->streams.erase(stream) > 0 && d->state == State::Connected)
        d->channel->request("events.unsubscribe", Json{{"stream", stream}}, {});
}

Client::Private::Private(Client* client, Options given) : q(client), options(std::move(given))
{
    if (options.dataFolder.empty())
        options.dataFolder = dataFolder();
    retry.setSingleShot(true);
    QObject::connect(&retry, &QTimer::timeout, q, [this] { tryConnect(); });
}

void Client::Private::open()
{
    state = State::Connecting;
    deadline = monotonicNs() + openFor;
    startedAt = 0;
    retryMs = firstRetryMs;
    tryConnect();
}

void Client::Private::tryConnect()
{
    const auto path = daemonSocket(options.dataFolder);
    auto socket = path ? connectLocal(*path) : Result<UniqueFd>(fail(path.error()));
    if (socket)
        return sayHello(std::move(*socket));
    if (options.startDaemon && monotonicNs() - startedAt > startAgainAfter) {
        const auto program = options.program.empty() ? daemonProgram() : Result<fs::path>(options.program);
        const Status started =
            program ? startDaemon(*program, options.dataFolder) : Status(fail(program.error()));
        if (!started)
            return failOpening(started.error());
        startedAt = monotonicNs();
    }
    if (!options.startDaemon || monotonicNs() > deadline)
        return failOpening(Error{"api.no_daemon", "the daemon cannot be reached: " + socket.error().message,
            Json{{"reason", socket.error().code}}});
    retry.start(retryMs);
    retryMs = std::min(retryMs * 2, lastRetryMs);
}

void Client::Private::failOpening(const Error& error)
{
    if (options.reconnect) {
        retry.start(idleRetryMs);
        deadline = monotonicNs() + openFor;
    } else {
        state = State::Closed;
        if (!failAll(error))
            return;
    }
    Q_EMIT q->disconnected(error);
}

void Client::Private::sayHello(UniqueFd socket)
{
    channel = new Channel(std::move(socket), q);
    QObject::connect(channel, &Channel::closed, q, [this](const Error& reason) { onClosed(reason); });
    QObject::connect(channel, &Channel::notified, q, [this](const Incoming& one) { onNotified(one); });
    const auto program = options.program.empty() ? daemonProgram() : Result<fs::path>(options.program);
    const std::string build = program ? buildId(*program) : std::string();
    Json hello{{"protocol", protocolVersion},
        {"client", Json{{"name", options.name}, {"version", version()}, {"pid", ::getpid()}}}};
    hello["environment"] = clientEnvironment();
    if (!build.empty())
        hello["build"] = build;
    channel->request("daemon.hello", hello, [this, build](Result<Answer> answer) {
        if (answer)
            return onHello(std::move(answer->body), build);
        if (answer.error().code == "rpc.closed")
            return; // onClosed() follows
        const Error error = std::move(answer.error());
        dropChannel();
        failOpening(error);
    });
}

void Client::Private::onHello(Json info, const std::string& ownBuild)
{
    const std::string theirs = stringOr(info, "build");
    if (options.startDaemon && !ownBuild.empty() && theirs < ownBuild && boolOr(info, "replaceable")) {
        // The next attempt finds nobody and starts our own build.
        channel->request("daemon.stop", Json{{"op", newId()}}, {});
        startedAt = 0;
        return;
    }
    info["older"] = !ownBuild.empty() && theirs < ownBuild;
    daemonInfo = std::move(info);
    state = State::Connected;
    std::vector<std::string> names;
    for (const auto& [name, items] : topics)
        names.push_back(name);
    if (!names.empty())
        subscribeState(names);
    for (const auto& [stream, since] : streams)
        subscribe(stream);
    for (auto& [id, pending] : requests)
        send(id, pending);
    Q_EMIT q->connected();
}

void Client::Private::onClosed(const Error& reason)
{
    const bool wasConnected = state == State::Connected;
    dropChannel();
    if (!wasConnected) {
        // Replaced, or met while it was leaving: simply the next attempt.
        retry.start(retryMs);
        retryMs = std::min(retryMs * 2, lastRetryMs);
        return;
    }
    state = State::Connecting;
    if (!failLost() || state == State::Closed)
        return;
    if (options.reconnect) {
        open();
    } else {
        state = State::Closed;
        if (!failAll(Error{"api.disconnected", "the daemon went away"}))
            return;
    }
    Q_EMIT q->disconnected(reason);
}

void Client::Private::dropChannel()
{
    if (!channel)
        return;
    Channel* old = std::exchange(channel, nullptr);
    old->disconnect(q);
    old->close(Error{"rpc.closed", "not needed any more"});
    old->deleteLater();
}

void Client::Private::close()
{
    retry.stop();
    state = State::Closed;
    dropChannel();
    failAll(Error{"api.disconnected", "the connection was closed"});
}

qint64 Client::Private::call(Pending pending)
{
    const Method* method = findMethod(pending.method);
    pending.repeatable = method && method->op;
    if (pending.repeatable && !pending.params.contains("op"))
        pending.params["op"] = newId();
    const qint64 id = nextRequest++;
    const auto it = requests.emplace(id, std::move(pending)).first;
    if (state == State::Connected)
        send(id, it->second);
    return id;
}

void Client::Private::send(qint64 id, Pending& pending)
{
    pending.sent = channel->request(
        pending.method, pending.params,
        [this, id](Result<Answer> answer) {
            if (!answer && answer.error().code == "rpc.closed")
                return; // failLost() decides who waits for the next daemon
            answered(id, std::move(answer));
        },
        pending.attachment);
}

void Client::Private::answered(qint64 id, Result<Answer> answer)
{
    const auto it = requests.find(id);
    if (it == requests.end())
        return;
    const Pending pending = std::move(it->second);
    requests.erase(it);
    if (pending.handler && (!pending.guarded || pending.guard))
        pending.handler(std::move(answer));
}

void Client::Private::cancel(qint64 id)
{
    const auto it = requests.find(id);
    if (it == requests.end())
        return;
    if (state == State::Connected && it->second.sent != 0)
        return channel->notify("rpc.cancel", Json{{"request", it->second.sent}});
    QTimer::singleShot(0, q, [this, id] { answered(id, fail("cancelled", "cancelled before it was sent")); });
}

bool Client::Private::failLost()
{
    std::vector<qint64> lost;
    for (auto& [id, pending] : requests) {
        if (!pending.repeatable && pending.sent != 0)
            lost.push_back(id);
        pending.sent = 0;
    }
    return failThese(lost, Error{"api.disconnected", "the daemon went away before it answered"});
}

bool Client::Private::failAll(const Error& error)
{
    std::vector<qint64> all;
    for (const auto& [id, pending] : requests)
        all.push_back(id);
    return failThese(all, error);
}

bool Client::Private::failThese(const std::vector<qint64>& ids, const Error& error)
{
    // A handler may delete the client.
    const QPointer<Client> alive(q);
    for (const qint64 id : ids) {
        answered(id, fail(error));
        if (!alive)
            return false;
    }
    return true;
}

} // namespace gb::api
