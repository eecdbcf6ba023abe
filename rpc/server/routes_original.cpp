// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/json.h>

#include "router.h"

// The original system's wire format, exactly: its unmodified clients work here.
namespace gb::rpc {

void Router::originalList(const HttpExchangePtr& exchange, const std::string&)
{
    const auto schema = m_keeper.schema();
    if (!schema)
        return exchange->replyJson(
            503, {{"ok", false}, {"error", "the interface file is not loaded"}, {"traceback", ""}});
    exchange->reply(200, "application/json", schema->original());
}

void Router::originalCall(const HttpExchangePtr& exchange, const std::string&)
{
    const auto refuse = [exchange](int status, const std::string& message) {
        exchange->replyJson(status, {{"ok", false}, {"error", message}, {"traceback", ""}});
    };
    auto request = readCall(m_keeper, *exchange);
    if (!request)
        return refuse(request.error().code == "unknown_function" ? 404 : 400, request.error().message);
    const auto id = m_keeper.call(std::move(*request), [this, exchange](const CallEvent& event) {
        if (event.kind != CallEvent::Kind::Done)
            return;
        const CallOutcome& outcome = *event.outcome;
        if (outcome.ok()) {
            return resultFor(m_keeper, event, false, [exchange](const SharedText& result) {
                std::string body = R"({"ok": true, "result": )";
                body.append(result.view()).append("}");
                exchange->reply(200, "application/json", SharedText(std::move(body)));
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
