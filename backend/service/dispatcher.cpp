// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatcher.h"

#include <algorithm>
#include <array>

#include <backend/base/hash.h>
#include <backend/base/ids.h>
#include <backend/base/log.h>

#include "onmain.h"

namespace gb::service {
namespace {

// A larger outcome, or one with an attachment, is not kept: the handler is asked again and finds it where it
// is.
constexpr std::size_t keptOutcomeLimit = 64U << 10U;

void appendSized(std::string& out, char tag, std::string_view text)
{
    out += tag;
    out += std::to_string(text.size());
    out += ':';
    out += text;
}

// Every value in one unambiguous form; cheaper than writing JSON, which a large batch of events would feel.
void appendCanonical(std::string& out, const Json& json)
{
    if (json.is_string())
        return appendSized(out, 's', json.get_ref<const std::string&>());
    if (json.is_object()) {
        out += '{';
        for (const auto& [key, value] : json.items()) {
            appendSized(out, 'k', key);
            appendCanonical(out, value);
        }
        out += '}';
    } else if (json.is_array()) {
        out += '[';
        for (const Json& value : json)
            appendCanonical(out, value);
        out += ']';
    } else {
        appendSized(out, 'v', json.dump());
    }
}

std::string digestOf(const api::Method& method, const Json& params, const std::string& attachment)
{
    std::string text;
    appendSized(text, 'm', method.name);
    for (const auto& [key, value] : params.items()) {
        // A digest of a short secret would tell it to whoever tries them all.
        if (key == "op" || key == "secrets")
            continue;
        appendSized(text, 'k', key);
        appendCanonical(text, value);
    }
    Sha256 hash;
    hash.add(text);
    hash.add("|");
    hash.add(attachment);
    return hash.hex();
}

// What these do is gone when the machine loses power, so their ops have to outlive a killed daemon only: a
// command would otherwise take four times as long as it runs. A call's record waits for no disk either.
Durability durabilityOf(std::string_view method)
{
    static constexpr std::array brief{"calls.run", "sandboxes.exec", "sandboxes.port", "sandboxes.port_close",
        "sandboxes.resize", "sandboxes.signal"};
    return std::ranges::find(brief, method) == brief.end() ? Durability::PowerCut : Durability::KilledProcess;
}

std::string outcomeText(const Result<api::Answer>& outcome)
{
    if (!outcome)
        return Json{{"error", outcome.error().toJson()}}.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string text = outcome->attachment.empty()
        ? Json{{"result", outcome->body}}.dump(-1, ' ', false, Json::error_handler_t::replace)
        : std::string();
    return text.empty() || text.size() > keptOutcomeLimit ? R"({"again":true})" : text;
}

} // namespace

Store::Done<void> logged(std::string what)
{
    return [what = std::move(what)](const Status& status) {
        if (!status)
            logError("service", what + ": " + status.error().message, Json{{"code", status.error().code}});
    };
}

Dispatcher::Dispatcher(Store* store, QObject* parent) : QObject(parent), m_store(store) { }

void Dispatcher::setIntent(std::string_view method, std::function<std::string(const Json&)> data)
{
    m_intents.insert_or_assign(std::string(method), std::move(data));
}

void Dispatcher::dispatch(Connection* connection, api::Incoming& request)
{
    const std::string& name = request.message.method;
    Reply reply = connection->replyTo(request.message.id);
    const api::Method* method = api::findMethod(name);
    const Binder::Bound* bound = m_binder.find(name);
    if (!method || !bound)
        return reply.refuse(
            Error{"rpc.unknown_method", "there is no method " + name, Json{{"method", name}}});
    if (!connection->isGreeted() && name != "daemon.hello")
        return reply.refuse(Error{"rpc.hello_first", "the first request must be daemon.hello"});
    if (method->op)
        return beginOp(*method, request, std::move(reply));
    reply.setConnection(connection);
    bound->handler(request.message.body, std::move(request.attachment), reply);
    reply.setConnection(nullptr);
}

void Dispatcher::beginOp(const api::Method& method, api::Incoming& incoming, Reply reply)
{
    const std::string op = stringOr(incoming.message.body, "op");
    if (!isId(op))
        return reply.refuse(
            Error{"params.op", std::string(method.name) + " changes something and needs an op (a UUID)"});
    const std::string digest = digestOf(method, incoming.message.body, incoming.attachment);
    if (const auto running = m_ops.find(op); running != m_ops.end()) {
        if (running->second.method != method.name || running->second.digest != digest)
            return reply.refuse(Error{"rpc.op_mismatch", "this op came before with another request"});
        running->second.waiting.push_back(std::move(reply));
        return;
    }
    reply.setOp(op, false);
    m_ops.emplace(op, Op{{std::move(reply)}, std::string(method.name), digest});
    const auto request = std::make_shared<api::Incoming>(std::move(incoming));
    OpStart start{op, std::string(method.name), digest, std::nullopt, durabilityOf(method.name)};
    if (const auto intent = m_intents.find(method.name); intent != m_intents.end())
        start.intent = Intent{op, std::string(method.name), intent->second(request->message.body), 0};
    const Handler& handler = m_binder.find(method.name)->handler;
    const auto then = [this, op, &handler, request](const Result<OpBegun>& begun) {
        if (begun)
            onBegun(op, *begun, handler, request);
        else
            answerAll(op, fail(begun.error()));
    };
    if (!m_atOnce.contains(method.name))
        return m_store->beginOp(std::move(start), onMain<OpBegun>(this, then));
    const auto begun = m_store->findOp(start);
    if (begun && begun->state == OpBegun::State::New)
        m_store->beginOp(std::move(start), [](const Result<OpBegun>& recorded) {
            if (!recorded)
                logError("service", "cannot record an op: " + recorded.error().message);
        });
    then(begun);
}

void Dispatcher::onBegun(
    const std::string& op, OpBegun begun, const Handler& handler, const RequestPtr& request)
{
    switch (begun.state) {
    case OpBegun::State::New:
        return runOp(op, false, handler, request);
    case OpBegun::State::Pending: // of this daemon, but nobody here is at it: its answer got lost
    case OpBegun::State::Interrupted:
        return runOp(op, true, handler, request);
    case OpBegun::State::Mismatch:
        return answerAll(op, fail("rpc.op_mismatch", "this op came before with another request"));
    case OpBegun::State::Repeat:
        break;
    }
    auto outcome = parseJson(begun.outcome);
    if (!outcome)
        return answerAll(op, fail(outcome.error()));
    if (boolOr(*outcome, "again"))
        return runOp(op, true, handler, request);
    if (const auto error = outcome->find("error"); error != outcome->end())
        return answerAll(op, fail(Error::fromJson(*error)));
    answerAll(op, api::Answer{std::move((*outcome)["result"]), {}});
}

void Dispatcher::runOp(const std::string& op, bool resumed, const Handler& handler, const RequestPtr& request)
{
    const auto running = m_ops.find(op);
    if (running == m_ops.end())
        return;
    Reply first = running->second.waiting.front();
    // After the answer whoever began it still hears of it.
    const auto notifyAll = [this, op, first](
                               std::string_view method, const Json& body, std::string_view bytes) {
        const auto it = m_ops.find(op);
        if (it == m_ops.end())
            return first.notify(method, body, bytes);
        for (const Reply& reply : it->second.waiting)
            reply.notify(method, body, bytes);
    };
    Reply reply([this, op](const Result<api::Answer>& outcome) { onOutcome(op, outcome); }, notifyAll,
        first.caller(), [first] { return first.unsent(); });
    reply.setOp(op, resumed);
    first.onCancel(reply.canceller());
    handler(request->message.body, std::move(request->attachment), std::move(reply));
}

void Dispatcher::onOutcome(const std::string& op, const Result<api::Answer>& outcome)
{
    // What the outcome speaks of is durable by now, and a handler that is asked again finds it; so nobody has
    // to wait until the outcome itself is.
    const auto running = m_ops.find(op);
    const std::string method = running == m_ops.end() ? std::string() : running->second.method;
    m_store->finishOp(op, outcomeText(outcome), logged("cannot store an outcome"), durabilityOf(method));
    if (m_intents.contains(method))
        m_store->finishIntent(op, logged("cannot store the end of an intent"));
    answerAll(op, outcome);
}

void Dispatcher::answerAll(const std::string& op, const Result<api::Answer>& outcome)
{
    auto running = m_ops.extract(op);
    if (running.empty())
        return;
    for (Reply& reply : running.mapped().waiting) {
        if (outcome)
            reply.finish(*outcome);
        else
            reply.refuse(outcome.error());
    }
}

} // namespace gb::service
