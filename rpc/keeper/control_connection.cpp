// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "control_connection.h"

#include <backend/base/json.h>

namespace gb::rpc {
namespace {

constexpr std::size_t chunkSize = 1U << 20U;
constexpr std::size_t recordsAhead = 4U << 20U; // unsent bytes at which replaying records waits
constexpr std::size_t eventsAhead = 8U << 20U; // unsent bytes at which call events are left out

} // namespace

ControlConnection::ControlConnection(ControlServer& server)
    : m_server(server),
      m_requests(static_cast<std::int64_t>(server.keeper().config().limits.bodyBytes / chunkSize + 1),
          [this](std::string json) { m_socket->send(std::move(json)); })
{ }

ControlConnection::~ControlConnection()
{
    m_server.keeper().forget(this);
}

void ControlConnection::open(UniqueFd fd)
{
    const std::weak_ptr<ControlConnection> weak = weak_from_this();
    m_socket = FrameSocket::create(m_server.keeper().loop(), std::move(fd), FrameLimits{},
        FrameSocket::Descriptors::Refused,
        {[this](std::string& json, SharedText attachment) { frame(json, std::move(attachment)); },
            [weak](const std::string&) {
                if (const auto self = weak.lock())
                    self->m_server.drop(self);
            },
            [this] { pumpRecords(); }});
    m_server.keeper().observe(this);
}

void ControlConnection::close()
{
    m_server.keeper().forget(this);
    m_socket->close();
}

void ControlConnection::frame(std::string& json, SharedText attachment)
{
    auto request = m_requests.take(json, std::move(attachment));
    if (!request)
        return;
    const std::int64_t id = request->message.id;
    const std::string method = request->message.method;
    if (!dispatchRequest(*this, methods(), std::move(*request)))
        refuse(id, {"rpc.unknown_method", "unknown method \"" + method + "\""});
}

void ControlConnection::answer(std::int64_t id, const Json& result)
{
    m_socket->send(encodeAnswer(id, result));
}

void ControlConnection::refuse(std::int64_t id, const Error& error)
{
    m_socket->send(encodeFailure(id, error));
}

void ControlConnection::sendWithText(std::int64_t id, std::string resultMembers, const SharedText& text)
{
    const std::size_t chunks = text.size() > chunkSize ? (text.size() + chunkSize - 1) / chunkSize : 0;
    std::string json = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + ",\"result\":{" + resultMembers;
    if (chunks > 0)
        json += ",\"chunks\":" + std::to_string(chunks);
    json += "}}";
    if (chunks == 0)
        return m_socket->send(std::move(json), text);
    m_socket->send(std::move(json));
    for (std::size_t i = 0; i < chunks; ++i) {
        const std::size_t at = i * chunkSize;
        m_socket->send(encodeNotification("chunk", {{"of", id}, {"n", i}}),
            text.part(at, std::min(chunkSize, text.size() - at)));
    }
}

Json ControlConnection::stateJson() const
{
    const Keeper& keeper = m_server.keeper();
    Json json{{"state", keeper.stateName()}, {"generation", keeper.generation()}};
    if (!keeper.loadError().is_null())
        json["error"] = keeper.loadError();
    if (const auto schema = keeper.schema())
        json["schema_etag"] = schema->etag();
    return json;
}

void ControlConnection::stateChanged()
{
    m_socket->send(encodeNotification("keeper.state", stateJson()));
}

void ControlConnection::callEvent(const Call& call, const CallEvent& event)
{
    if (m_socket->unsent() > eventsAhead)
        return;
    Json params{{"call", call.request.id}, {"event", nameOf(event.kind)}};
    params.update(event.data);
    if (event.kind == CallEvent::Kind::Done)
        params["state"] = event.outcome->state;
    const bool small = event.item.size() <= chunkSize;
    m_socket->send(encodeNotification("keeper.call_event", params), small ? event.item : SharedText());
}

void ControlConnection::recordStored(std::uint64_t seq, const CallOutcome&, const Frame& frame)
{
    if (m_nextRecord == seq && m_socket->unsent() < recordsAhead) {
        ++m_nextRecord;
        m_socket->send(frame.json, frame.attachment.empty() ? SharedText() : SharedText(frame.attachment));
    }
}

void ControlConnection::pumpRecords()
{
    if (m_nextRecord == 0)
        return;
    const Spool& spool = m_server.keeper().spool();
    while (m_nextRecord < spool.nextSeq() && m_socket->open() && m_socket->unsent() < recordsAhead) {
        auto frame = spool.read(m_nextRecord++);
        if (frame && *frame)
            m_socket->send(std::move((*frame)->json), std::move((*frame)->attachment));
    }
}

} // namespace gb::rpc
