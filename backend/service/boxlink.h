// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QObject>

#include <backend/api/channel.h>

namespace gb::service {

// The daemon's end of the control socket of one sandbox's keeper. One link is one connection: when it is
// lost, its owner makes another. Commands that push their output have a link of their own, so that a client
// that does not read holds up nobody but itself.
class BoxLink : public QObject
{
    Q_OBJECT

public:
    BoxLink(UniqueFd socket, QObject* parent);

    // `greeted` with what the keeper says of itself, or `closed`.
    void open();
    void request(std::string_view method, const Json& params, api::AnswerHandler handler,
        std::string_view attachment = {});
    bool isGreeted() const { return m_greeted && m_channel.isOpen(); }
    void setReading(bool on) { m_channel.setReading(on); }
    void close();

Q_SIGNALS:
    void greeted(const gb::Json& hello);
    void notified(const gb::api::Incoming& notification);
    void closed(const gb::Error& reason);

private:
    api::Channel m_channel;
    bool m_greeted = false;
};

} // namespace gb::service
