// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// What exists, and how the daemon talks to it.

#include "sandboxes.h"

#include <algorithm>

#include <backend/api/daemonstart.h>
#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/log.h>

#include "interfaces.h"
#include "joblist.h"
#include "statehub.h"

namespace gb::service {
namespace {

constexpr int linkRetryMs = 100;
constexpr int linkAttempts = 5;
constexpr int relistMs = 2'000;

Error notReady(const SandboxRecord& record)
{
    std::string message = "the sandbox is " + std::string(toString(record.state));
    if (record.state == SandboxState::Failed) {
        const std::string why = stringOr(objectOr(record.details, "error"), "message");
        message = "the sandbox has failed: " + (why.empty() ? record.reason : why);
    }
    return {"sandbox.not_ready", message, Json{{"state", toString(record.state)}, {"reason", record.reason}}};
}

} // namespace

void Sandboxes::reconcile(const std::shared_ptr<SandboxProvider>& provider, bool isStart)
{
    if (!m_listing.insert(provider->id()).second)
        return;
    // What this daemon is making may not be there yet, and what has greeted is there.
    SandboxRegistry::States before = m_registry->states();
    std::erase_if(before, [this](const auto& one) {
        const auto box = m_boxes.find(one.first);
        return box != m_boxes.end()
            && (!box->second.startJob.empty() || (box->second.link && box->second.link->isGreeted()));
    });
    onPool([this, provider, isStart, before = std::move(before)] {
        auto found = std::make_shared<Result<std::vector<FoundSandbox>>>(provider->list());
        post([this, id = provider->id(), isStart, before, found] { onListed(id, isStart, before, *found); });
    });
}

void Sandboxes::onListed(const std::string& provider, bool isStart, const SandboxRegistry::States& before,
    const Result<std::vector<FoundSandbox>>& found)
{
    m_listing.erase(provider);
    if (!found) {
        logWarning("sandboxes", "cannot tell what exists: " + found.error().message,
            Json{{"provider", provider}, {"code", found.error().code}});
        if (isStart)
            QTimer::singleShot(
                relistMs, this, [this, provider] { reconcile(this->provider(provider), true); });
        return;
    }
    m_unlisted.erase(provider);
    const auto outcome = m_registry->reconcile(provider, *found, before, isStart);
    if (!outcome) {
        logError("sandboxes", outcome.error().message, Json{{"code", outcome.error().code}});
        return;
    }
    for (const std::string& id : outcome->adopt) {
        // One that was still being filled has nobody behind it any more.
        if (isStart && m_registry->find(id)->state == SandboxState::Starting && m_boxes[id].startJob.empty())
            interrupt(id);
        else if (m_registry->find(id)->state == SandboxState::Ready)
            attach(id);
    }
    for (const FoundSandbox& one : outcome->reap)
        reap(one, provider);
    for (const std::string& id : outcome->lost) {
        if (m_registry->find(id)->reason == "interrupted")
            interrupt(id);
        publish(id);
        terminate(id);
    }
    for (const std::string& id : outcome->ended) {
        publish(id);
        finishStops(id, Json{{"sandbox", id}});
    }
    for (const SandboxRecord& record : m_registry->list()) {
        if (record.state != SandboxState::Ready)
            flushWaiting(record.id, fail("sandbox.gone", "the sandbox does not run any more"));
    }
    Q_EMIT changed();
}

void Sandboxes::reap(const FoundSandbox& found, const std::string& provider)
{
    const SandboxRecord* known = m_registry->find(found.id);
    if (known && sameSecret(known->nonce, found.nonce)) {
        if (known->isAlive() && known->state != SandboxState::Stopping)
            return interrupt(found.id);
        return terminate(found.id);
    }
    logWarning("sandboxes", "ending a sandbox nobody wanted", Json{{"sandbox", found.id}});
    SandboxRecord stranger;
    stranger.id = found.id;
    stranger.nonce = found.nonce;
    stranger.handle = found.handle;
    stranger.spec.provider = provider;
    onPool([from = this->provider(provider), stranger] {
        if (const Status done = from->terminate(stranger); !done)
            logWarning("sandboxes", "a stranger is still there: " + done.error().message,
                Json{{"sandbox", stranger.id}});
    });
}

// The daemon that was creating it is gone: neither its secrets nor its settings are known any more.
void Sandboxes::interrupt(const std::string& id)
{
    const SandboxRecord* record = m_registry->find(id);
    const Error error{
        "sandbox.interrupted", "the daemon ended while the sandbox was being made; start it again"};
    if (record->state != SandboxState::Failed)
        transition(id, SandboxState::Failed, "interrupted", {Json{{"error", error.toJson()}}, std::nullopt});
    else
        setDetail(id, "error", error.toJson());
    m_parts.jobs->recordInterrupted(stringOr(record->details, "job"), "sandboxes.start",
        "Starting " + stringOr(record->details, "name"), id, error);
    publish(id);
    terminate(id);
}

void Sandboxes::attach(const std::string& id)
{
    const SandboxRecord* record = m_registry->find(id);
    Box& box = m_boxes[id];
    if (!record || record->state != SandboxState::Ready || box.link)
        return;
    const auto from = provider(record->spec.provider);
    onPool([this, id, from, record = *record] {
        auto control = from->control(record);
        post([this, id, control] {
            if (control)
                connectTo(id, *control);
            else
                onGone(id);
        });
    });
}

void Sandboxes::connectTo(const std::string& id, const fs::path& control)
{
    const SandboxRecord* record = m_registry->find(id);
    const auto known = m_boxes.find(id);
    if (!record || record->state != SandboxState::Ready || known == m_boxes.end() || known->second.link)
        return;
    auto socket = api::connectLocal(control);
    if (!socket) {
        if (++known->second.attempts >= linkAttempts)
            return onGone(id);
        QTimer::singleShot(linkRetryMs, this, [this, id, control] { connectTo(id, control); });
        return;
    }
    auto* link = new BoxLink(std::move(*socket), this);
    known->second.link = link;
    known->second.control = control;
    connect(link, &BoxLink::greeted, this, [this, id](const Json& hello) { onGreeted(id, hello); });
    connect(link, &BoxLink::notified, this, [this, id](const api::Incoming& one) { onNotified(id, one); });
    connect(link, &BoxLink::closed, this, [this, id] { onLinkClosed(id); });
    link->open();
}

void Sandboxes::onGreeted(const std::string& id, const Json& hello)
{
    const SandboxRecord* record = m_registry->find(id);
    Box& box = m_boxes[id];
    if (!record || stringOr(hello, "id") != id || !sameSecret(stringOr(hello, "nonce"), record->nonce)) {
        logError("sandboxes", "what answers there is another sandbox", Json{{"sandbox", id}});
        box.attempts = linkAttempts;
        return box.link->close();
    }
    box.attempts = 0;
    box.endsAt = integerOr(hello, "ends_at");
    box.limits = objectOr(hello, "limits");
    publish(id);
    flushWaiting(id, {});
}

void Sandboxes::onNotified(const std::string& id, const api::Incoming& notification)
{
    Box& box = m_boxes[id];
    if (notification.message.method == "box.ended")
        box.endReason = stringOr(notification.message.body, "reason");
    if (notification.message.method == "box.ending") {
        box.endsAt = wallMs() + integerOr(notification.message.body, "seconds") * 1000;
        box.isEnding = true;
        publish(id);
    }
}

void Sandboxes::onLinkClosed(const std::string& id)
{
    Box& box = m_boxes[id];
    box.link->disconnect(this);
    box.link->deleteLater();
    box.link = nullptr;
    if (box.endReason.empty() && ++box.attempts < linkAttempts)
        return attach(id);
    onGone(id);
}

void Sandboxes::flushWaiting(const std::string& id, const Status& status)
{
    for (const auto& then : std::exchange(m_boxes[id].waiting, {}))
        then(status);
}

void Sandboxes::whenLinked(const std::string& id, std::function<void(Status)> then)
{
    const SandboxRecord* record = m_registry->find(id);
    Box& box = m_boxes[id];
    if (box.link && box.link->isGreeted())
        return then({});
    if (!record)
        return then(fail("sandbox.unknown", "there is no sandbox " + id));
    if (record->state != SandboxState::Ready)
        return then(fail(notReady(*record)));
    box.waiting.push_back(std::move(then));
}

void Sandboxes::request(const std::string& sandbox, std::string method, Json params,
    api::AnswerHandler handler, std::string attachment)
{
    const auto record = find(sandbox);
    if (!record)
        return handler(fail(record.error()));
    whenLinked(record->id,
        [this, id = record->id, method = std::move(method), params = std::move(params),
            handler = std::move(handler), attachment = std::move(attachment)](const Status& linked) {
            BoxLink* const link = linked ? m_boxes[id].link : nullptr;
            if (!link)
                return handler(linked ? fail("sandbox.unreachable", "the sandbox cannot be reached")
                                      : fail(linked.error()));
            link->request(method, params, handler, attachment);
        });
}

void Sandboxes::extend(const std::string& sandbox, std::int64_t seconds, api::AnswerHandler handler)
{
    const auto record = find(sandbox);
    const std::string id = record ? record->id : std::string();
    request(sandbox, "box.extend", Json{{"seconds", seconds}},
        [this, id, handler = std::move(handler)](Result<api::Answer> answer) {
            if (const auto box = m_boxes.find(id); answer && box != m_boxes.end()) {
                box->second.endsAt = integerOr(answer->body, "ends_at");
                box->second.isEnding = false;
                publish(id);
            }
            handler(std::move(answer));
        });
}

Result<BoxLink*> Sandboxes::openLink(const std::string& id)
{
    const auto known = m_boxes.find(id);
    auto socket = known == m_boxes.end() ? fail("sandbox.unknown", "there is no sandbox " + id)
                                         : api::connectLocal(known->second.control);
    if (!socket)
        return fail("sandbox.unreachable", "the sandbox cannot be reached: " + socket.error().message);
    auto* link = new BoxLink(std::move(*socket), this);
    link->open();
    return link;
}

void Sandboxes::serve(const std::string& sandbox, ServeOrder order, bool wait, Reply reply)
{
    const auto record = find(sandbox);
    if (!record)
        return reply.refuse(record.error());
    Interfaces* const interfaces = m_parts.interfaces;
    auto answer = [interfaces, wait](const std::shared_ptr<Reply>& own, Result<Json> item) {
        if (!item || !wait)
            return own->finish(std::move(item));
        interfaces->whenLoaded(
            stringOr(*item, "id"), [own](Result<Json> loaded) { own->finish(std::move(loaded)); });
    };
    if (auto known = interfaces->find(order.id)) // a repeat
        return answer(std::make_shared<Reply>(std::move(reply)), std::move(known));
    if (record->state != SandboxState::Ready)
        return reply.refuse(notReady(*record));
    Json served = record->details.value("interfaces", Json::array());
    served.push_back(order.id);
    setDetail(record->id, "interfaces", served); // before it exists, so that a new daemon knows whose it is
    const auto from = provider(record->spec.provider);
    const auto cancelled = std::make_shared<std::atomic<bool>>(false);
    reply.onCancel([cancelled, interfaces, id = order.id] {
        *cancelled = true;
        if (interfaces->find(id)) // it loads already
            interfaces->request(id, "keeper.shutdown", Json::object(), [](const Result<api::Answer>&) {});
    });
    auto held = std::make_shared<std::unique_ptr<Reply>>(std::make_unique<Reply>(std::move(reply)));
    onPool([this, from, held, cancelled, answer, record = *record, order = std::move(order),
               leaving = m_leaving] {
        const auto control =
            from->serve(record, order, [cancelled, leaving] { return *cancelled || *leaving; });
        post([this, held, control, answer] {
            const std::shared_ptr<Reply> own = std::move(*held);
            if (!control)
                return own->refuse(control.error());
            m_parts.interfaces->registerKeeper(
                control->string(), [own, answer](Result<Json> item) { answer(own, std::move(item)); });
        });
    });
}

} // namespace gb::service
