// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <backend/base/ids.h>
#include <backend/base/json.h>
#include <rpc/keeper/json_check.h>
#include <rpc/keeper/values.h>

#include "event_stream.h"
#include "router.h"

namespace gb::rpc {
namespace {

constexpr std::string_view ownType = "application/vnd.glovebox+json";
constexpr std::string_view floatsType = "application/vnd.glovebox.floats+json";

std::string dumped(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// {"id","ok","result"|"error","state","generation","ns","warnings"}, with the result as it is between two
// others
std::array<SharedText, 3> answerParts(
    const CallOutcome& outcome, const SharedText& result, const Caller& caller, const HostConfig& config)
{
    std::string head = R"({"id":")" + outcome.id + R"(","ok":)" + (outcome.ok() ? "true" : "false");
    if (outcome.ok())
        head += ",\"result\":";
    else
        head += ",\"error\":" + dumped(visibleError(outcome.error, caller, config));
    std::string text = R"(,"state":")" + outcome.state + R"(","generation":)"
        + std::to_string(outcome.generation) + ",\"ns\":{\"queue\":" + std::to_string(outcome.ns.queue)
        + ",\"compute\":" + std::to_string(outcome.ns.compute)
        + ",\"serialise\":" + std::to_string(outcome.ns.serialise) + "}";
    if (!outcome.warnings.empty())
        text += ",\"warnings\":" + dumped(outcome.warnings);
    text += '}';
    return {std::move(head), outcome.ok() ? result : SharedText(), std::move(text)};
}

TensorLookup lookupIn(const std::vector<TensorPtr>& tensors)
{
    return [&tensors](const std::string& handle) -> TensorPtr {
        const auto found = std::ranges::find(tensors, handle, &Tensor::handle);
        return found == tensors.end() ? nullptr : *found;
    };
}

std::string eventText(const std::string& id, const CallEvent& event, bool record)
{
    std::string data = R"({"id":")" + id + "\"";
    std::size_t unsaid = 0;
    if (event.kind == CallEvent::Kind::Item && event.special && !record)
        data += ",\"item\":" + plainForm(event.item.view(), lookupIn(event.tensors), unsaid);
    else if (event.kind == CallEvent::Kind::Item)
        data.append(",\"item\":").append(event.item.view());
    const std::string members = dumped(event.data);
    if (members.size() > 2)
        data += "," + members.substr(1, members.size() - 2);
    return sseEvent(nameOf(event.kind), data + "}");
}

// Writes the events of one call in their order, long ones beside the loop.
class EventWriter
{
public:
    EventWriter(Keeper& keeper, HttpExchangePtr exchange, std::string id, bool record)
        : m_keeper(keeper), m_exchange(std::move(exchange)), m_id(std::move(id)), m_record(record)
    { }

    void write(const CallEvent& event)
    {
        constexpr std::size_t writeInline = 256U << 10U;
        std::size_t work = event.item.size();
        for (const TensorPtr& tensor : event.tensors)
            work += m_record ? 0 : tensor->elements() * 10;
        if (*m_waiting == 0 && work <= writeInline)
            return m_exchange->write(eventText(m_id, event, m_record));
        auto text = std::make_shared<std::string>();
        later([text, event, id = m_id, record = m_record] { *text = eventText(id, event, record); },
            [text, exchange = m_exchange] { exchange->write(*text); });
    }

    // Calls at once, or when everything before has been written.
    void afterwards(std::function<void()> done)
    {
        if (*m_waiting == 0)
            return done();
        later([] {}, std::move(done));
    }

private:
    void later(std::function<void()> work, std::function<void()> done)
    {
        ++*m_waiting;
        m_keeper.background().run(std::move(work), [waiting = m_waiting, done = std::move(done)] {
            --*waiting;
            done();
        });
    }

    Keeper& m_keeper;
    HttpExchangePtr m_exchange;
    std::string m_id;
    bool m_record;
    std::shared_ptr<std::size_t> m_waiting = std::make_shared<std::size_t>(0);
};

} // namespace

void Router::health(const HttpExchangePtr& exchange, const std::string&)
{
    exchange->replyJson(200, m_keeper.health());
}

void Router::schema(const HttpExchangePtr& exchange, const std::string&)
{
    const auto schema = visibleSchema(m_keeper, *exchange->token());
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
    readCall(m_keeper, exchange,
        [this, exchange](Result<CallRequest> request) { startCall(exchange, std::move(request)); });
}

void Router::startCall(const HttpExchangePtr& exchange, Result<CallRequest> request)
{
    if (!request)
        return refuseCall(*exchange, request.error());
    const bool record = exchange->head().accepts(ownType);
    const ResultForm form = !record            ? ResultForm::Plain
        : exchange->head().accepts(floatsType) ? ResultForm::Packed
                                               : ResultForm::Record;
    const bool stream = exchange->head().accepts("text/event-stream");
    request->binary = record;
    request->stream = stream;
    if (request->id.empty())
        request->id = newId();
    const std::string id = request->id;
    const auto writer = stream ? std::make_shared<EventWriter>(m_keeper, exchange, id, record)
                               : std::shared_ptr<EventWriter>();
    const auto started = m_keeper.call(std::move(*request), [=, this](const CallEvent& event) {
        if (!writer && event.kind == CallEvent::Kind::Done)
            return answerCall(exchange, event, form);
        if (!writer)
            return;
        if (!exchange->streaming())
            exchange->beginStream("text/event-stream");
        if (event.kind == CallEvent::Kind::Done)
            writer->afterwards([=, this] { answerCall(exchange, event, form); });
        else
            writer->write(event);
    });
    if (!started)
        return refuseCall(*exchange, started.error());
    exchange->onGone([this, id] { m_keeper.abandon(id); });
}

void Router::answerCall(const HttpExchangePtr& exchange, const CallEvent& event, ResultForm form)
{
    resultFor(
        m_keeper, event, form,
        [this, exchange, record = form != ResultForm::Plain, outcome = event.outcome](
            const SharedText& result) {
            const auto parts = answerParts(*outcome, result, exchange->token()->caller, m_keeper.config());
            if (!exchange->streaming())
                return exchange->replyParts(200, record ? ownType : "application/json", parts);
            std::string text(parts[0].view());
            exchange->write(sseEvent("result", text.append(parts[1].view()).append(parts[2].view())));
            exchange->endStream();
        },
        exchange->streaming());
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
        return exchange->replyParts(
            200, ownType, answerParts(*outcome, outcome->result, caller, m_keeper.config()));
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
