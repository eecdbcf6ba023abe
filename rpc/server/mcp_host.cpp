// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "mcp_host.h"

#include <backend/base/clock.h>
#include <rpc/keeper/json_check.h>

#include "event_stream.h"
#include "router.h"

namespace gb::rpc {
namespace {

class ExchangeAnswer : public McpAnswer, public std::enable_shared_from_this<ExchangeAnswer>
{
public:
    explicit ExchangeAnswer(HttpExchangePtr exchange) : m_exchange(std::move(exchange)) { }

    // Clients give up on silence, so a long call says now and then that it is there.
    void keepAlive(Loop& loop, std::int64_t everyMs)
    {
        loop.after(everyMs, [weak = weak_from_this(), &loop, everyMs] {
            const auto self = weak.lock();
            if (!self || self->m_done)
                return;
            self->beginStream();
            self->write(": still at it\n\n");
            self->keepAlive(loop, everyMs);
        });
    }

    void reply(int status, std::string_view type, std::string body) override
    {
        m_done = true;
        m_exchange->onGone({});
        if (!m_exchange->streaming())
            return m_exchange->reply(status, type, SharedText(std::move(body)));
        m_exchange->write(sseEvent("message", body));
        m_exchange->endStream();
    }
    void beginStream() override
    {
        if (!m_exchange->streaming())
            m_exchange->beginStream("text/event-stream");
    }
    void write(std::string_view text) override { m_exchange->write(text); }
    void endStream() override
    {
        m_done = true;
        m_exchange->onGone({});
        m_exchange->endStream();
    }
    void onGone(std::function<void()> handler) override { m_exchange->onGone(std::move(handler)); }

private:
    HttpExchangePtr m_exchange;
    bool m_done = false;
};

McpProgress progressOf(const Json& data)
{
    McpProgress progress{numberOr(data, "done"), std::nullopt, stringOr(data, "message")};
    if (data.contains("total") && data["total"].is_number())
        progress.total = data["total"].get<double>();
    return progress;
}

} // namespace

void KeeperMcp::handle(const HttpExchangePtr& exchange)
{
    const RequestHead& head = exchange->head();
    const TokenPtr& token = exchange->token();
    m_callers[token->id] = token;
    const bool stream = head.accepts("text/event-stream");
    const auto answer = std::make_shared<ExchangeAnswer>(exchange);
    if (stream)
        answer->keepAlive(m_keeper.loop(), m_keeper.config().limits.idleMs / 8);
    m_endpoint.handle(
        {exchange->body(), token->id, stream, head.mcpVersion, head.mcpMethod, head.mcpName}, answer);
}

TokenPtr KeeperMcp::tokenOf(std::string_view caller) const
{
    const auto found = m_callers.find(caller);
    return found == m_callers.end() ? nullptr : found->second;
}

Result<Json> KeeperMcp::schema()
{
    const auto schema = m_keeper.schema();
    if (!schema)
        return fail("not_loaded", "the interface file is not loaded");
    return parseJson(schema->text());
}

std::string KeeperMcp::schemaTag()
{
    const auto schema = m_keeper.schema();
    return schema ? schema->etag() : std::string();
}

bool KeeperMcp::mayCall(std::string_view caller, std::string_view function)
{
    const TokenPtr token = tokenOf(caller);
    return token && token->allows(function);
}

Result<std::string> KeeperMcp::call(
    std::string_view caller, const std::string& function, std::string arguments, McpListener listener)
{
    const TokenPtr token = tokenOf(caller);
    if (!token)
        return fail("not_allowed", "the token is gone");
    auto body = readArguments(arguments);
    if (!body)
        return fail(std::move(body).error());
    GB_TRY(m_keeper.tokens().charge(*token, function, wallMs()));
    CallRequest request;
    request.fn = function;
    request.arguments = std::move(body->arguments);
    request.argumentsShape = body->shape;
    request.caller = token->caller;
    return m_keeper.call(
        std::move(request), [this, token, listener = std::move(listener)](const CallEvent& event) {
            if (event.kind == CallEvent::Kind::Progress)
                return listener.progress(progressOf(event.data));
            if (event.kind != CallEvent::Kind::Done)
                return;
            const CallOutcome& outcome = *event.outcome;
            if (outcome.ok())
                return resultFor(m_keeper, event, ResultForm::Plain, [listener](const SharedText& text) {
                    listener.done({std::string(text.view()), {}});
                });
            listener.done({{}, visibleError(outcome.error, token->caller, m_keeper.config())});
        });
}

void KeeperMcp::cancel(const std::string& call)
{
    m_keeper.cancel(call, false);
}

} // namespace gb::rpc
