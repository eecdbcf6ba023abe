// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxlink.h"

#include <backend/api/methods.h>
#include <backend/base/version.h>

namespace gb::service {

BoxLink::BoxLink(UniqueFd socket, QObject* parent) : QObject(parent), m_channel(std::move(socket))
{
    connect(&m_channel, &api::Channel::notified, this, &BoxLink::notified);
    connect(&m_channel, &api::Channel::requested, this, [this](const api::Incoming& one) {
        m_channel.refuse(one.message.id, Error{"rpc.unknown_method", "a keeper asks the daemon nothing"});
    });
    connect(&m_channel, &api::Channel::closed, this, &BoxLink::closed);
}

void BoxLink::open()
{
    m_channel.request("box.hello", Json{{"protocol", api::protocolVersion}, {"build", version()}},
        [this](const Result<api::Answer>& answer) {
            if (!answer)
                return m_channel.close(answer.error());
            m_greeted = true;
            Q_EMIT greeted(answer->body);
        });
}

void BoxLink::request(
    std::string_view method, const Json& params, api::AnswerHandler handler, std::string_view attachment)
{
    if (!m_channel.isOpen())
        return handler(fail("sandbox.unreachable", "the sandbox cannot be reached"));
    m_channel.request(method, params, std::move(handler), attachment);
}

void BoxLink::close()
{
    m_channel.close(Error{"rpc.closed", "not needed any more"});
}

} // namespace gb::service
