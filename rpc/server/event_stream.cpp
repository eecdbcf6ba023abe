// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "event_stream.h"

#include <algorithm>

#include <backend/base/json.h>
#include <rpc/keeper/json_check.h>

namespace gb::rpc {
namespace {

constexpr std::size_t keptEvents = 2000;

} // namespace

std::string sseEvent(std::string_view type, std::string_view data, std::uint64_t id)
{
    std::string text;
    text.reserve(data.size() + type.size() + 40);
    if (id != 0)
        text.append("id: ").append(std::to_string(id)).append("\n");
    text.append("event: ").append(type).append("\ndata: ").append(data).append("\n\n");
    return text;
}

EventStream::EventStream(Keeper& keeper) : m_keeper(keeper)
{
    keeper.observe(this);
}

EventStream::~EventStream()
{
    m_keeper.forget(this);
}

void EventStream::follow(const HttpExchangePtr& exchange, std::uint64_t since)
{
    exchange->beginStream("text/event-stream");
    const std::uint64_t first = m_next - m_entries.size();
    if (since != 0 && since < first)
        exchange->write(sseEvent("gap", R"({"first":)" + std::to_string(first) + "}"));
    for (std::uint64_t seq = std::max(since == 0 ? m_next : since, first); seq < m_next; ++seq) {
        const Entry& entry = m_entries[seq - first];
        if (visible(entry, *exchange))
            exchange->write(entry.text);
    }
    m_followers.push_back(exchange);
    exchange->onGone([this, raw = exchange.get()] {
        std::erase_if(m_followers, [raw](const HttpExchangePtr& one) { return one.get() == raw; });
    });
}

// An agent sees its own calls; what others do is not its business.
bool EventStream::visible(const Entry& entry, const HttpExchange& exchange)
{
    const Caller& caller = exchange.token()->caller;
    return caller.kind != "agent" || entry.caller.token == caller.token;
}

void EventStream::add(const char* type, std::string_view data, const Caller& caller)
{
    m_entries.push_back({sseEvent(type, data, m_next++), caller});
    if (m_entries.size() > keptEvents)
        m_entries.pop_front();
    if (m_followers.empty())
        return;
    const auto followers = m_followers; // a write may find that its client has gone
    for (const HttpExchangePtr& follower : followers) {
        if (visible(m_entries.back(), *follower))
            follower->write(m_entries.back().text);
    }
}

void EventStream::stateChanged()
{
    add("state", Json{{"state", m_keeper.stateName()}, {"generation", m_keeper.generation()}}.dump());
}

void EventStream::callEvent(const Call& call, const CallEvent& event)
{
    if (event.kind == CallEvent::Kind::Done || event.kind == CallEvent::Kind::Item)
        return;
    Json data{{"call", call.request.id}};
    data.update(event.data);
    add(nameOf(event.kind), data.dump(-1, ' ', false, Json::error_handler_t::replace), call.request.caller);
}

void EventStream::recordStored(std::uint64_t seq, const CallOutcome& outcome, const Frame&)
{
    std::string data = "{\"call\":\"" + outcome.id + "\",\"fn\":";
    appendJsonString(data, outcome.fn);
    data += ",\"state\":\"" + outcome.state + "\",\"record\":" + std::to_string(seq)
        + ",\"compute_ns\":" + std::to_string(outcome.ns.compute) + "}";
    add("done", data, outcome.caller);
}

void EventStream::printed(const char* stream, std::string_view text)
{
    add("printed", R"({"stream":")" + std::string(stream) + R"(","text":)" + jsonString(text) + "}");
}

} // namespace gb::rpc
