// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "keeper.h"

#include <algorithm>

#include <backend/base/clock.h>
#include <backend/base/hash.h>
#include <backend/base/json.h>
#include <backend/base/log.h>

#include "values.h"

// Ends of calls: what the worker said becomes an outcome, a record and an answer, in this order.
namespace gb::rpc {
namespace {

// A dict of a function may have as many keys as a vocabulary; nobody here looks them up.
constexpr JsonLimits resultLimits{200, 10'000'000};
constexpr std::size_t examineInline = 256U << 10U;
constexpr std::size_t itemsKept = 16U
    << 20U; // of one call, for its record and for those who wait for the end

// Larger tensors are measured when somebody asks.
void addStatistics(const std::vector<TensorPtr>& tensors, SharedText& text)
{
    constexpr std::size_t measuredUpTo = 64U << 10U; // within the call's own time: tens of microseconds
    if (tensors.empty())
        return;
    text = withStats(text.view(), [&tensors](const std::string& handle) -> Json {
        for (const TensorPtr& tensor : tensors) {
            if (tensor->handle() != handle || tensor->elements() > measuredUpTo)
                continue;
            const auto stats = statistics(*tensor, false);
            return stats ? stats->toJson(false) : Json();
        }
        return {};
    });
}

} // namespace

void Keeper::takeOutput(Call& call, const char* stream, const SharedText& text)
{
    const std::size_t room =
        m_config.limits.outputBytes - std::min(m_config.limits.outputBytes, call.outputBytes);
    call.outputCut = call.outputCut || text.size() > room;
    const std::string_view kept = text.view().substr(0, room);
    call.outputBytes += kept.size();
    if (kept.empty())
        return;
    if (!call.output.empty() && call.output.back().stream == stream)
        call.output.back().text += kept;
    else
        call.output.push_back({stream, std::string(kept)});
}

// False: the worker broke the format.
bool Keeper::takeItem(
    Call& call, CallEvent& event, const Json& header, const SharedText& text, std::vector<UniqueFd> fds)
{
    if (!checkJson(text.view(), resultLimits))
        return false;
    event.kind = CallEvent::Kind::Item;
    event.data = {{"index", integerOr(header, "index")}};
    event.item = text;
    event.special = boolOr(header, "special");
    // Without its tensors the item still says what they were.
    if (auto tensors = adoptTensors(header.value("tensors", Json::array()), std::move(fds))) {
        event.tensors = std::move(*tensors);
        addStatistics(event.tensors, event.item);
    }
    CallItems& items = call.items;
    if (items.kept == items.count && items.text.size() + event.item.size() <= itemsKept) {
        if (items.kept++ > 0)
            items.text += ',';
        items.text += event.item.view();
        items.special = items.special || event.special;
    }
    ++items.count;
    return true;
}

// The record of a generator holds what it yielded, as if nobody had taken the items one by one.
void Keeper::gatherItems(const Call& call, CallOutcome& outcome) const
{
    const Schema::Function* function = m_schema ? m_schema->find(call.request.fn) : nullptr;
    const CallItems& items = call.items;
    if (!call.request.stream || !outcome.ok() || !(items.count > 0 || (function && function->generator)))
        return;
    outcome.returned = std::move(outcome.result);
    outcome.result = SharedText("[" + items.text + "]");
    outcome.special = outcome.special || items.special;
    if (items.kept < items.count)
        outcome.warnings.push_back("the record holds the first " + std::to_string(items.kept) + " of "
            + std::to_string(items.count) + " items");
}

void Keeper::onWorkerEvent(const Json& header, const SharedText& attachment, std::vector<UniqueFd> fds)
{
    const std::string kind = stringOr(header, "t");
    const char* stream = stringOr(header, "stream") == "stderr" ? "stderr" : "stdout";
    const CallPtr call = byWorkerId(integerOr(header, "id", -1));
    if (!call) {
        if (kind == "output") {
            for (KeeperObserver* observer : m_observers)
                observer->printed(stream, attachment.view());
        }
        return;
    }
    CallEvent event;
    if (kind == "started") {
        event.kind = CallEvent::Kind::Started;
        call->startedNs = monotonicNs();
        armTimeouts(call);
    } else if (kind == "output") {
        event.kind = CallEvent::Kind::Output;
        takeOutput(*call, stream, attachment);
        event.data = {{"stream", stream}, {"text", attachment.view()}};
    } else if (kind == "progress") {
        event.kind = CallEvent::Kind::Progress;
        event.data = {{"done", header.value("done", Json())}, {"total", header.value("total", Json())},
            {"message", stringOr(header, "message")}};
    } else if (kind == "log") {
        event.kind = CallEvent::Kind::Log;
        event.data = {{"level", stringOr(header, "level")}, {"message", stringOr(header, "message")},
            {"fields", objectOr(header, "fields")}};
    } else if (!takeItem(*call, event, header, attachment, std::move(fds))) {
        return m_worker->kill();
    }
    tell(*call, event);
}

void Keeper::onResult(WorkerResult& result)
{
    const CallPtr call = byWorkerId(result.id);
    if (!call || call->finishing)
        return;
    call->finishing = true;
    auto finished = std::make_shared<Finished>();
    CallOutcome& outcome = *finished->outcome;
    outcome.id = call->request.id;
    outcome.fn = call->request.fn;
    outcome.generation = m_generation;
    outcome.special = result.special;
    outcome.warnings = std::move(result.warnings);
    outcome.ns.compute = result.computeNs;
    outcome.ns.serialise = result.serialiseNs;
    outcome.state = result.ok ? "ok" : "error";
    if (result.ok) {
        outcome.result = std::move(result.text);
        takeTensors(*finished, result);
        gatherItems(*call, outcome);
    } else {
        outcome.error = std::move(result.error);
        const std::string kind = outcome.errorKind();
        if (kind == "cancelled" || kind == "timeout")
            outcome.state = "cancelled";
        if (kind == "cancelled" && call->stopReason == "timeout")
            outcome.error = callError("timeout", "the call ran out of time and was stopped");
    }
    std::size_t work = outcome.result.size();
    for (const TensorPtr& tensor : finished->tensors)
        work += tensor->elements();
    if (work <= examineInline) {
        examine(*finished);
        return complete(call, *finished);
    }
    m_background.run(
        [this, finished] { examine(*finished); }, [this, call, finished] { complete(call, *finished); });
}

// May run beside the loop: touches nothing but what it is given.
void Keeper::examine(Finished& finished) const
{
    CallOutcome& outcome = *finished.outcome;
    if (!outcome.ok())
        return;
    if (outcome.result.size() > m_config.limits.resultBytes) {
        outcome.error = callError("reply_too_large",
            "the result has " + std::to_string(outcome.result.size()) + " bytes, "
                + std::to_string(m_config.limits.resultBytes) + " are allowed");
    } else if (const auto shape = checkJson(outcome.result.view(), resultLimits)) {
        finished.resultShape = *shape;
        addStatistics(finished.tensors, outcome.result);
        finished.digest = sha256Hex(outcome.result.view());
        return;
    } else {
        outcome.error =
            callError("not_serialisable", "the result is not valid JSON: " + shape.error().message);
    }
    outcome.state = "error";
    outcome.result = {};
}

void Keeper::endWithError(const CallPtr& call, const std::string& state, Json error)
{
    Finished finished;
    finished.outcome->id = call->request.id;
    finished.outcome->fn = call->request.fn;
    finished.outcome->generation = m_generation;
    finished.outcome->state = state;
    finished.outcome->error = std::move(error);
    call->finishing = true;
    complete(call, finished);
}

void Keeper::complete(const CallPtr& call, Finished& finished)
{
    CallOutcome& outcome = *finished.outcome;
    outcome.caller = call->request.caller;
    const std::int64_t total = monotonicNs() - call->arrivedNs;
    const std::int64_t notWork = std::max<std::int64_t>(0, total - outcome.ns.compute - outcome.ns.serialise);
    // A worker that writes a long result says late that it has started.
    if (call->startedNs != 0)
        outcome.ns.queue = std::min(call->startedNs - call->arrivedNs, notWork);
    outcome.ns.transfer = notWork - outcome.ns.queue;
    for (const std::uint64_t timer : call->timers)
        m_loop.cancelTimer(timer);
    store(*call, finished);
    m_byWorkerId.erase(call->workerId);
    m_calls.erase(call->request.id);
    m_recent.add(finished.outcome);
    CallEvent done;
    done.outcome = finished.outcome;
    done.tensors = finished.tensors;
    tell(*call, done);
    replaceWorkerWhenIdle();
}

void Keeper::store(const Call& call, const Finished& finished)
{
    CallOutcome& outcome = *finished.outcome;
    RecordText text = makeRecord({m_config, call, outcome, finished.resultShape, finished.digest});
    outcome.record = text.record;
    m_unwritten.push_back({std::move(text), finished.outcome});
    if (const auto written = writeRecords(); !written)
        outcome.warnings.push_back("the record of this call waits for room: " + written.error().message);
}

// What cannot be written stays here, in its order; new calls are refused until it could be, so this is never
// more than what was running.
Status Keeper::writeRecords()
{
    constexpr std::int64_t tryAgainMs = 1000;
    while (!m_unwritten.empty()) {
        Unwritten& next = m_unwritten.front();
        const std::uint64_t seq = m_spool->nextSeq();
        const auto frame = m_spool->append(next.text);
        if (!frame && !std::exchange(m_withoutRoom, true))
            logError("keeper", "records wait for room", frame.error().toJson());
        if (!frame && m_writeTimer == 0) {
            m_writeTimer = m_loop.after(tryAgainMs, [this] {
                m_writeTimer = 0;
                [[maybe_unused]] const auto again = writeRecords();
            });
        }
        if (!frame)
            return fail(frame.error());
        next.outcome->seq = seq;
        for (KeeperObserver* observer : m_observers)
            observer->recordStored(seq, *next.outcome, *frame);
        m_unwritten.pop_front();
    }
    m_withoutRoom = false;
    return {};
}

} // namespace gb::rpc
