// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "keeperlink.h"

#include <algorithm>

#include <QPointer>

#include <backend/api/methods.h>
#include <backend/base/log.h>

#include "onmain.h"
#include "recordframe.h"

namespace gb::service {

KeeperLink::KeeperLink(Store* store, UniqueFd socket, QObject* guard)
    : QObject(guard), m_store(store), m_guard(guard), m_channel(std::move(socket))
{
    m_channel.setFrameHandler([this](const rpc::Frame& frame) { return takeRecord(frame); });
    connect(&m_channel, &api::Channel::notified, this, [this](const api::Incoming& one) {
        Q_EMIT notified(QString::fromStdString(one.message.method), one.message.body,
            QByteArray(one.attachment.data(), static_cast<qsizetype>(one.attachment.size())));
    });
    connect(&m_channel, &api::Channel::requested, this, [this](const api::Incoming& one) {
        m_channel.refuse(one.message.id, Error{"rpc.unknown_method", "a keeper asks the daemon nothing"});
    });
    connect(&m_channel, &api::Channel::closed, this, &KeeperLink::closed);
}

void KeeperLink::open(const std::string& build)
{
    m_channel.request("keeper.hello", Json{{"protocol", api::protocolVersion}, {"build", build}},
        [this](const Result<api::Answer>& answer) {
            if (!answer) {
                // Closed already when that is the reason; otherwise the keeper does not want us.
                m_channel.close(answer.error());
                return;
            }
            const QPointer<KeeperLink> alive(this);
            Q_EMIT greeted(answer->body);
            if (alive && isOpen())
                askForRecords();
        });
}

void KeeperLink::askForRecords()
{
    m_channel.request("keeper.records", Json{{"since", 1}}, [this](const Result<api::Answer>& answer) {
        if (!answer)
            return m_channel.close(answer.error());
        awaitBacklog(0);
    });
}

// The keeper sends its backlog as we read it, and answers in between. Once a round trip brings nothing new,
// all it held has come.
void KeeperLink::awaitBacklog(std::int64_t before)
{
    m_channel.request(
        "keeper.ack", Json{{"seq", m_acked}}, [this, before](const Result<api::Answer>& answer) {
            if (!answer)
                return;
            if (m_highest != before)
                return awaitBacklog(m_highest);
            m_backlogSeen = true;
            m_backlogEnd = m_highest;
            checkCaughtUp();
        });
}

void KeeperLink::request(
    std::string_view method, const Json& params, api::AnswerHandler handler, std::string_view attachment)
{
    if (!isOpen())
        return handler(fail("interfaces.unreachable", "the interface host cannot be reached"));
    m_channel.request(method, params, std::move(handler), attachment);
}

void KeeperLink::close()
{
    m_channel.close(Error{"rpc.closed", "not needed any more"});
}

bool KeeperLink::takeRecord(const rpc::Frame& frame)
{
    if (!isRecordFrame(frame))
        return false;
    auto spooled = readRecordFrame(frame);
    if (!spooled) {
        // It stays in the spool, which is better than losing it.
        logError("service", spooled.error().message);
        return true;
    }
    const std::int64_t seq = spooled->seq;
    m_highest = std::max(m_highest, seq);
    m_storing.insert(seq);
    const std::string id = spooled->record.id;
    const std::string run = spooled->record.run;
    const auto onDone = [self = QPointer<KeeperLink>(this), seq, id, run](const Status& status) {
        if (!status)
            logError("service", "cannot store a call: " + status.error().message, Json{{"call", id}});
        else if (self)
            self->onStored(seq, id, run);
    };
    m_store->putCall(std::move(spooled->record), onMain<void>(m_guard, onDone));
    return true;
}

void KeeperLink::onStored(std::int64_t seq, const std::string& call, const std::string& run)
{
    m_storing.erase(seq);
    // A record that could not be stored holds the number back, so that the spool keeps it.
    const std::int64_t durable = m_storing.empty() ? m_highest : *m_storing.begin() - 1;
    if (durable > m_acked && isOpen()) {
        m_acked = durable;
        m_channel.request("keeper.ack", Json{{"seq", durable}}, {});
    }
    const QPointer<KeeperLink> alive(this);
    Q_EMIT recordStored(QString::fromStdString(call), QString::fromStdString(run));
    if (alive)
        checkCaughtUp();
}

void KeeperLink::checkCaughtUp()
{
    // What came since does not count, or a busy host would never be done.
    if (m_caughtUp || !m_backlogSeen || (!m_storing.empty() && *m_storing.begin() <= m_backlogEnd))
        return;
    m_caughtUp = true;
    Q_EMIT caughtUp();
}

} // namespace gb::service
