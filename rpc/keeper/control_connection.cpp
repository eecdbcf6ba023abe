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
    const auto message = decodeMessage(json);
    if (!message) {
        m_socket->send(encodeFailure(std::nullopt, message.error()));
        return;
    }
    if (message->kind == Message::Kind::Notification && message->method == "chunk")
        return takeChunk(message->body, attachment);
    if (message->kind != Message::Kind::Request)
        return;
    const std::int64_t chunks = integerOr(message->body, "chunks");
    const auto most = static_cast<std::int64_t>(m_server.keeper().config().limits.bodyBytes / chunkSize + 1);
    if (chunks < 0 || chunks > most)
        return refuse(message->id, {"params.chunks", "too many chunks announced"});
    if (chunks > 0) {
        m_gathering[message->id] = {*message, {}, chunks};
        return;
    }
    dispatch(*message, std::move(attachment));
}

void ControlConnection::takeChunk(const Json& params, const SharedText& attachment)
{
    const auto it = m_gathering.find(integerOr(params, "of", -1));
    if (it == m_gathering.end())
        return;
    it->second.text += attachment.view();
    if (--it->second.left > 0)
        return;
    Gathering whole = std::move(it->second);
    m_gathering.erase(it);
    dispatch(whole.message, SharedText(std::move(whole.text)));
}

void ControlConnection::dispatch(const Message& message, SharedText attachment)
{
    const auto it = methods().find(message.method);
    if (it == methods().end())
        return refuse(message.id, {"rpc.unknown_method", "unknown method \"" + message.method + "\""});
    (this->*it->second)(message.id, message.body, std::move(attachment));
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
