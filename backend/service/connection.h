// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include <QObject>

#include <backend/api/channel.h>

#include "reply.h"

namespace gb::service {

// One client. It is never closed from inside a send (its users may be in the middle of something): a client
// that does not read is closed when the event loop comes round.
class Connection : public QObject
{
    Q_OBJECT

public:
    explicit Connection(UniqueFd socket, QObject* parent = nullptr);

    bool isGreeted() const { return m_greeted; }
    void greet(Caller caller, std::map<std::string, std::string> environment);
    const Caller& caller() const { return m_caller; }
    // What the client told of its environment (paths, proxies, tokens); never stored or shown.
    const std::map<std::string, std::string>& environment() const { return m_environment; }

    std::size_t unsent() const { return m_channel.unsent(); }
    void notify(std::string_view method, const Json& params, std::string_view attachment = {});
    void sendText(std::string_view json); // event batches: their sender looks at unsent() itself
    void closeSoon(Error reason);

    // A Reply to this request that stays valid without the connection.
    Reply replyTo(std::int64_t request);

Q_SIGNALS:
    void requested(gb::service::Connection* self, gb::api::Incoming& request);
    void drained(gb::service::Connection* self); // it has read on
    void closed(gb::service::Connection* self, const gb::Error& reason);

private:
    void onNotified(const api::Incoming& notification);
    bool makeRoom();
    void pauseIfBehind();

    api::Channel m_channel;
    bool m_greeted = false;
    bool m_paused = false;
    bool m_closing = false;
    Caller m_caller;
    std::map<std::string, std::string> m_environment;
    std::map<std::int64_t, std::function<void()>> m_open; // how to cancel them
};

} // namespace gb::service
