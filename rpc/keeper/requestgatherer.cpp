// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "requestgatherer.h"

#include <backend/base/json.h>

namespace gb::rpc {
namespace {

constexpr std::size_t mostGathering = 16;

} // namespace

std::optional<RequestGatherer::Request> RequestGatherer::take(std::string_view json, SharedText attachment)
{
    auto message = decodeMessage(json);
    if (!message) {
        m_send(encodeFailure(std::nullopt, message.error()));
        return std::nullopt;
    }
    if (message->kind == Message::Kind::Notification && message->method == "chunk")
        return takeChunk(message->body, attachment);
    if (message->kind != Message::Kind::Request)
        return std::nullopt;
    if (message->chunks == 0)
        return Request{std::move(*message), std::move(attachment)};
    if (message->chunks > m_mostChunks || m_gathering.size() >= mostGathering) {
        m_send(encodeFailure(message->id, {"params.chunks", "too many chunks announced"}));
        return std::nullopt;
    }
    const std::int64_t id = message->id;
    const std::int64_t chunks = message->chunks;
    m_gathering.insert_or_assign(id, Gathering{std::move(*message), {}, chunks});
    return std::nullopt;
}

std::optional<RequestGatherer::Request> RequestGatherer::takeChunk(
    const Json& params, const SharedText& attachment)
{
    const auto it = m_gathering.find(integerOr(params, "of", -1));
    if (it == m_gathering.end())
        return std::nullopt;
    it->second.text += attachment.view();
    if (--it->second.left > 0)
        return std::nullopt;
    Gathering whole = std::move(it->second);
    m_gathering.erase(it);
    return Request{std::move(whole.message), SharedText(std::move(whole.text))};
}

} // namespace gb::rpc
