// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "connection.h"

#include <QPointer>
#include <QTimer>

namespace gb::service {
namespace {

// Above the first a client gets no new requests read, above the second it is dropped.
constexpr std::size_t pauseReadingAt = 8U << 20U;
constexpr std::size_t dropAt = 32U << 20U;
constexpr std::size_t openRequestsLimit = 4096;

} // namespace

Connection::Connection(UniqueFd socket, QObject* parent) : QObject(parent), m_channel(std::move(socket))
{
    connect(&m_channel, &api::Channel::requested, this, [this](api::Incoming& request) {
        if (m_open.size() >= openRequestsLimit || m_open.contains(request.message.id))
            return m_channel.refuse(request.message.id,
                Error{"rpc.busy", "too many requests at a time, or two with the same id"});
        Q_EMIT requested(this, request);
    });
    connect(&m_channel, &api::Channel::notified, this, &Connection::onNotified);
    connect(&m_channel, &api::Channel::closed, this, [this](const Error& reason) {
        m_open.clear();
        Q_EMIT closed(this, reason);
    });
    connect(&m_channel, &api::Channel::wrote, this, [this] {
        if (m_paused && unsent() < pauseReadingAt / 2) {
            m_paused = false;
            m_channel.setReading(true);
        }
        Q_EMIT drained(this);
    });
}

void Connection::greet(Caller caller, std::map<std::string, std::string> environment)
{
    m_caller = std::move(caller);
    m_environment = std::move(environment);
    m_caller.environment = std::make_shared<const std::map<std::string, std::string>>(m_environment);
    m_greeted = true;
}

void Connection::notify(std::string_view method, const Json& params, std::string_view attachment)
{
    if (makeRoom())
        m_channel.notify(method, params, attachment);
    pauseIfBehind();
}

void Connection::sendText(std::string_view json)
{
    m_channel.sendText(json);
}

void Connection::closeSoon(Error reason)
{
    if (m_closing)
        return;
    m_closing = true;
    QTimer::singleShot(0, this, [this, reason = std::move(reason)] { m_channel.close(reason); });
}

// False when the client is so far behind that it is dropped.
bool Connection::makeRoom()
{
    if (unsent() <= dropAt)
        return !m_closing;
    closeSoon(Error{"rpc.too_slow", "the client does not read"});
    return false;
}

void Connection::pauseIfBehind()
{
    if (unsent() > pauseReadingAt && !m_paused) {
        m_paused = true;
        m_channel.setReading(false);
    }
}

Reply Connection::replyTo(std::int64_t request)
{
    const QPointer<Connection> self(this);
    const auto done = [self, request](Result<api::Answer> answer) {
        if (!self)
            return;
        self->m_open.erase(request);
        if (!self->makeRoom())
            return;
        if (answer)
            self->m_channel.answer(request, answer->body, answer->attachment);
        else
            self->m_channel.refuse(request, answer.error());
        self->pauseIfBehind();
    };
    const auto notifyClient = [self](std::string_view method, const Json& params, std::string_view bytes) {
        if (self)
            self->notify(method, params, bytes);
    };
    const Reply reply(
        done, notifyClient, m_caller, [self] { return self ? self->unsent() : std::size_t(0); });
    m_open.emplace(request, reply.canceller());
    return reply;
}

void Connection::onNotified(const api::Incoming& notification)
{
    if (notification.message.method != "rpc.cancel")
        return;
    const auto open = m_open.find(integerOr(notification.message.body, "request", -1));
    if (open != m_open.end()) {
        const auto cancel = open->second; // it may answer, which takes it from the map
        cancel();
    }
}

} // namespace gb::service
