// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// Calls through the interfaces' hosts, from the request to the answer.

#include "interfaces.h"
#include "onmain.h"
#include "recordframe.h"
#include "runtopic.h"
#include "statehub.h"

namespace gb::service {
namespace {

api::Answer answerFrom(CallRecord record)
{
    Json body = recordJson(record);
    return {
        std::move(body), record.resultCut || record.state != "ok" ? std::string() : std::move(record.result)};
}

} // namespace

void Interfaces::run(CallOrder order, Reply reply)
{
    const std::string call = reply.op();
    const std::string* id = resolve(order.interface);
    const bool isServed = id && !m_served.at(*id).gone;
    if (reply.isResumed() || !isServed) {
        if (auto record = m_store->getCall(call))
            return reply.finish(answerFrom(std::move(*record)));
    }
    if (!isServed)
        return reply.refuse(id ? Error{"interfaces.gone", "the interface is not served any more"}
                               : Error{"interfaces.unknown", "no interface is called " + order.interface,
                                   Json{{"interface", order.interface}}});
    order.interface = *id;
    if (order.pin)
        m_toPin.insert(call);
    const KeeperLink* link = m_served.at(*id).link;
    reply.onCancel([this, call, interface = *id] {
        request(interface, "keeper.cancel", Json{{"call", call}}, [](const Result<api::Answer>&) {});
    });
    // One that an earlier daemon sent, perhaps without its op being recorded, may be running, or be done with
    // its record on the way: until the link has told us, it must not be started again.
    const bool wait = !link || !link->isCaughtUp();
    m_running.insert_or_assign(call, Running{std::move(order), std::move(reply), wait});
    if (!wait)
        startCall(call, *id);
}

void Interfaces::startCall(const std::string& call, const std::string& interface)
{
    Running& running = m_running.at(call);
    running.viaRecord = false;
    const Caller& caller = running.reply.caller();
    Json params{{"call", call}, {"fn", running.order.fn},
        {"caller", Json{{"kind", caller.kind}, {"name", caller.name}}}, {"stream", true}};
    if (running.order.timeoutMs > 0)
        params["timeout_ms"] = running.order.timeoutMs;
    const std::string arguments = running.order.arguments;
    m_served.at(interface).link->request(
        "keeper.call", params,
        [this, call](Result<api::Answer> answer) { onCallAnswered(call, std::move(answer)); }, arguments);
}

void Interfaces::onCallAnswered(const std::string& call, Result<api::Answer> answer)
{
    const auto it = m_running.find(call);
    if (it == m_running.end())
        return;
    const std::string code = answer ? std::string() : answer.error().code;
    const bool isOnItsWay = code == "params.id"; // the host knows this very call already
    if (code == "rpc.closed" || isOnItsWay) {
        it->second.viaRecord = true;
        return resolveFromStore(call, false);
    }
    if (!answer)
        return finishCall(call, fail(answer.error()));
    Json record = objectOr(answer->body, "record");
    record.erase("result");
    finishCall(call, api::Answer{std::move(record), std::move(answer->attachment)});
}

void Interfaces::resolveFromStore(const std::string& call, bool final)
{
    if (auto record = m_store->getCall(call))
        finishCall(call, answerFrom(std::move(*record)));
    else if (final)
        finishCall(call, fail("calls.lost", "the interface host ended before the call did"));
}

void Interfaces::finishCall(const std::string& call, Result<api::Answer> answer)
{
    auto running = m_running.extract(call);
    if (running.empty())
        return;
    if (answer)
        running.mapped().reply.finish(std::move(*answer));
    else
        running.mapped().reply.refuse(std::move(answer).error());
}

void Interfaces::onCaughtUp(const std::string& id)
{
    std::vector<std::string> waiting;
    for (const auto& [call, running] : m_running) {
        if (running.order.interface == id && running.viaRecord)
            waiting.push_back(call);
    }
    for (const std::string& call : waiting) {
        if (m_store->getCall(call))
            resolveFromStore(call, false);
        else // it never got there, or it is running: the host refuses the second one and its record comes
            startCall(call, id);
    }
}

void Interfaces::onRecordStored(const std::string& call, const std::string& run)
{
    m_state->remove("calls", call);
    m_touchedRuns.insert(run);
    if (!m_refresh.isActive())
        m_refresh.start();
    if (m_toPin.erase(call) > 0)
        m_store->annotateCall(call, CallAnnotation{true, std::nullopt}, logged("cannot pin a call"));
    if (const auto it = m_running.find(call); it != m_running.end() && it->second.viaRecord)
        resolveFromStore(call, false);
}

void Interfaces::cancel(const std::string& call, bool force, Reply reply)
{
    std::string interface;
    const auto& items = m_state->items("calls");
    if (const auto running = m_running.find(call); running != m_running.end())
        interface = running->second.order.interface;
    else if (const auto item = items.find(call); item != items.end())
        interface = stringOr(item->second, "interface");
    if (interface.empty())
        return reply.finish(Json{{"found", false}});
    request(interface, "keeper.cancel", Json{{"call", call}, {"force", force}},
        [reply](Result<api::Answer> answer) mutable {
            if (answer)
                reply.finish(std::move(*answer));
            else
                reply.refuse(answer.error());
        });
}

void Interfaces::refreshRuns()
{
    for (const std::string& run : std::exchange(m_touchedRuns, {}))
        publishRun(m_store, m_state, run);
}

} // namespace gb::service
