// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>

#include <QObject>

#include <backend/api/channel.h>
#include <backend/store/store.h>

namespace gb::service {

// The daemon's end of one keeper's control socket. It takes the keeper's records into the store and tells the
// keeper up to where they are durable. One link is one connection: when it is lost, its owner makes another.
class KeeperLink : public QObject
{
    Q_OBJECT

public:
    // `guard` (the parent) lives as long as the store.
    KeeperLink(Store* store, UniqueFd socket, QObject* guard);

    // hello, then the records; `greeted` or `closed` follows.
    void open(const std::string& build);
    void request(std::string_view method, const Json& params, api::AnswerHandler handler,
        std::string_view attachment = {});
    bool isOpen() const { return m_channel.isOpen(); }
    // Every record the keeper held when the link came up is in the store.
    bool isCaughtUp() const { return m_caughtUp; }
    void close();

Q_SIGNALS:
    void greeted(const gb::Json& hello);
    void caughtUp();
    void notified(const QString& method, const gb::Json& params, const QByteArray& attachment);
    void recordStored(const QString& call, const QString& run);
    void closed(const gb::Error& reason);

private:
    bool takeRecord(const rpc::Frame& frame);
    void onStored(std::int64_t seq, const std::string& call, const std::string& run);
    void askForRecords();
    void awaitBacklog(std::int64_t before);
    void checkCaughtUp();

    Store* m_store;
    QObject* m_guard;
    api::Channel m_channel;
    std::set<std::int64_t> m_storing; // sequence numbers on their way into the store
    std::int64_t m_highest = 0; // the last one seen
    std::int64_t m_acked = 0;
    std::int64_t m_backlogEnd = 0; // the last record of the backlog
    bool m_backlogSeen = false;
    bool m_caughtUp = false;
};

} // namespace gb::service
