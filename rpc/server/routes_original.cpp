// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/json.h>

#include "router.h"

// The original system's wire format, exactly: its unmodified clients work here.
namespace gb::rpc {

void Router::originalList(const HttpExchangePtr& exchange, const std::string&)
{
    const auto schema = visibleSchema(m_keeper, *exchange->token());
    if (!schema)
        return exchange->replyJson(
            503, {{"ok", false}, {"error", "the interface file is not loaded"}, {"traceback", ""}});
    exchange->reply(200, "application/json", schema->original());
}

void Router::originalCall(const HttpExchangePtr& exchange, const std::string&)
{
    readCall(m_keeper, exchange,
        [this, exchange](Result<CallRequest> request) { startOriginal(exchange, std::move(request)); });
}

void Router::startOriginal(const HttpExchangePtr& exchange, Result<CallRequest> request)
{
    const auto refuse = [exchange](int status, const std::string& message) {
        exchange->replyJson(status, {{"ok", false}, {"error", message}, {"traceback", ""}});
    };
    if (!request)
        return refuse(request.error().code == "unknown_function" ? 404 : 400, request.error().message);
    const auto id = m_keeper.call(std::move(*request), [this, exchange](const CallEvent& event) {
        if (event.kind != CallEvent::Kind::Done)
            return;
        const CallOutcome& outcome = *event.outcome;
        if (outcome.ok()) {
            return resultFor(m_keeper, event, ResultForm::Plain, [exchange](const SharedText& result) {
                static const SharedText head(R"({"ok": true, "result": )");
                static const SharedText tail("}");
                exchange->replyParts(200, "application/json", {head, result, tail});
            });
        }
        const Json error = visibleError(outcome.error, exchange->token()->caller, m_keeper.config());
        exchange->replyJson(200,
            {{"ok", false}, {"error", stringOr(error, "message")},
                {"traceback", stringOr(error, "traceback")}});
    });
    if (!id)
        return refuse(id.error().code == "unknown_function" ? 404 : 503, id.error().message);
    exchange->onGone([this, call = *id] { m_keeper.abandon(call); });
}

} // namespace gb::rpc
