// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/ids.h>
#include <backend/base/json.h>
#include <rpc/keeper/json_check.h>
#include <rpc/keeper/values.h>

#include "event_stream.h"
#include "router.h"

namespace gb::rpc {
namespace {

constexpr std::string_view ownType = "application/vnd.glovebox+json";

std::string dumped(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// {"id","ok","result"|"error","state","generation","ns","warnings"}
std::string answerText(
    const CallOutcome& outcome, std::string_view result, const Caller& caller, const HostConfig& config)
{
    std::string text = R"({"id":")" + outcome.id + R"(","ok":)" + (outcome.ok() ? "true" : "false");
    if (outcome.ok())
        text.append(",\"result\":").append(result);
    else
        text += ",\"error\":" + dumped(visibleError(outcome.error, caller, config));
    text += R"(,"state":")" + outcome.state + R"(","generation":)" + std::to_string(outcome.generation)
        + ",\"ns\":{\"queue\":" + std::to_string(outcome.ns.queue) + ",\"compute\":"
        + std::to_string(outcome.ns.compute) + ",\"serialise\":" + std::to_string(outcome.ns.serialise) + "}";
    if (!outcome.warnings.empty())
        text += ",\"warnings\":" + dumped(outcome.warnings);
    return text + "}";
}

void streamEvent(const HttpExchangePtr& exchange, const std::string& id, const CallEvent& event, bool record)
{
    std::string data = R"({"id":")" + id + "\"";
    std::size_t unsaid = 0;
    if (event.kind == CallEvent::Kind::Item && event.special && !record)
        data += ",\"item\":"
            + plainForm(
                event.item.view(), [](const std::string&) { return nullptr; }, unsaid);
    else if (event.kind == CallEvent::Kind::Item)
        data.append(",\"item\":").append(event.item.view());
    const std::string members = dumped(event.data);
    if (members.size() > 2)
        data += "," + members.substr(1, members.size() - 2);
    exchange->write(sseEvent(nameOf(event.kind), data + "}"));
}

} // namespace

void Router::health(const HttpExchangePtr& exchange, const std::string&)
{
    exchange->replyJson(200, m_keeper.health());
}

void Router::schema(const HttpExchangePtr& exchange, const std::string&)
{
    const auto schema = m_keeper.schema();
    if (!schema)
        return exchange->refuse(503, "not_loaded", "the interface file is not loaded");
    const std::string etag = "ETag: " + schema->etag() + "\r\n";
    if (exchange->head().ifNoneMatch == schema->etag())
        return exchange->reply(304, {}, {}, etag);
    exchange->reply(200, "application/json", schema->text(), etag);
}

void Router::reload(const HttpExchangePtr& exchange, const std::string&)
{
    if (exchange->token()->caller.kind == "agent")
        return exchange->refuse(403, "not_allowed", "an agent may not reload the interface");
    m_keeper.reload([this, exchange](const Result<Json>& outcome) {
        if (outcome)
            return exchange->replyJson(200, Json{{"ok", true}, {"reload", *outcome}});
        exchange->replyJson(200,
            {{"ok", false},
                {"error",
                    visibleError(outcome.error().data.empty()
                            ? callError(outcome.error().code, outcome.error().message)
                            : outcome.error().data,
                        exchange->token()->caller, m_keeper.config())}});
    });
}

void Router::call(const HttpExchangePtr& exchange, const std::string&)
{
    auto request = readCall(m_keeper, *exchange);
    if (!request)
        return refuseCall(*exchange, request.error());
    const bool record = exchange->head().accepts(ownType);
    const bool stream = exchange->head().accepts("text/event-stream");
    request->binary = record;
    request->stream = stream;
    if (request->id.empty())
        request->id = newId();
    const std::string id = request->id;
    const auto started = m_keeper.call(std::move(*request), [=, this](const CallEvent& event) {
        if (stream && !exchange->streaming())
            exchange->beginStream("text/event-stream");
        if (event.kind == CallEvent::Kind::Done)
            answerCall(exchange, event, record);
        else if (stream)
            streamEvent(exchange, id, event, record);
    });
    if (!started)
        return refuseCall(*exchange, started.error());
    exchange->onGone([this, id] { m_keeper.abandon(id); });
}

void Router::answerCall(const HttpExchangePtr& exchange, const CallEvent& event, bool record)
{
    resultFor(
        m_keeper, event, record, [this, exchange, record, outcome = event.outcome](const SharedText& result) {
            std::string text =
                answerText(*outcome, result.view(), exchange->token()->caller, m_keeper.config());
            if (!exchange->streaming())
                return exchange->reply(200, record ? ownType : "application/json", std::move(text));
            exchange->write(sseEvent("result", text));
            exchange->endStream();
        });
}

void Router::callState(const HttpExchangePtr& exchange, const std::string& id)
{
    const Caller& caller = exchange->token()->caller;
    const auto mine = [&caller](const Caller& other) {
        return caller.kind != "agent" || caller.token == other.token;
    };
    if (const Call* call = m_keeper.findRunning(id); call && mine(call->request.caller))
        return exchange->replyJson(200,
            {{"id", id}, {"fn", call->request.fn}, {"at", call->atMs},
                {"state", call->startedNs != 0 ? "running" : "queued"}});
    if (const CallOutcomePtr outcome = m_keeper.findDone(id); outcome && mine(outcome->caller))
        return exchange->reply(
            200, ownType, answerText(*outcome, outcome->result.view(), caller, m_keeper.config()));
    exchange->refuse(404, "not_found", "no such call, or it is too long ago");
}

void Router::cancelCall(const HttpExchangePtr& exchange, const std::string& rest)
{
    constexpr std::string_view suffix = "/cancel";
    if (!rest.ends_with(suffix))
        return exchange->refuse(404, "not_found", "there is nothing at this address");
    const std::string id = rest.substr(0, rest.size() - suffix.size());
    Json options = Json::object();
    if (!exchange->body().empty()) {
        auto parsed = parseJson(exchange->body());
        if (!parsed || !parsed->is_object())
            return exchange->refuse(400, "json.syntax", "the body must be a JSON object");
        options = std::move(*parsed);
    }
    const Call* call = m_keeper.findRunning(id);
    const Caller& caller = exchange->token()->caller;
    const bool mine = call && (caller.kind != "agent" || call->request.caller.token == caller.token);
    if (!mine)
        return exchange->refuse(404, "not_found", "no such call is running");
    if (caller.kind == "agent" && boolOr(options, "force"))
        return exchange->refuse(403, "not_allowed", "an agent may not end the worker");
    m_keeper.cancel(id, boolOr(options, "force"));
    exchange->replyJson(200, {{"ok", true}, {"found", true}});
}

} // namespace gb::rpc
