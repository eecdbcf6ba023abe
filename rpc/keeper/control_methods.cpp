// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/base/json.h>
#include <backend/base/version.h>

#include "control_connection.h"

// The methods of the control link, in the order of rpc/protocol/README.md.
namespace gb::rpc {

const RequestMethods<ControlConnection>& ControlConnection::methods()
{
    static const RequestMethods<ControlConnection> table{
        {"keeper.hello", &ControlConnection::hello},
        {"keeper.schema", &ControlConnection::schema},
        {"keeper.call", &ControlConnection::call},
        {"keeper.cancel", &ControlConnection::cancel},
        {"keeper.reload", &ControlConnection::reload},
        {"keeper.records", &ControlConnection::records},
        {"keeper.ack", &ControlConnection::ack},
        {"keeper.tensor", &ControlConnection::tensor},
        {"keeper.tokens.mint", &ControlConnection::mintToken},
        {"keeper.tokens.revoke", &ControlConnection::revokeToken},
        {"keeper.shutdown", &ControlConnection::shutdown},
    };
    return table;
}

void ControlConnection::hello(std::int64_t id, const Json& params, SharedText)
{
    constexpr int protocol = 1;
    if (integerOr(params, "protocol", protocol) > protocol)
        return refuse(id, {"rpc.version", "this keeper speaks protocol 1"});
    const Keeper& keeper = m_server.keeper();
    const HostConfig& config = keeper.config();
    const HostAddress& address = m_server.address();
    Json result{{"protocol", protocol}, {"build", version()}, {"id", config.id}, {"name", config.name},
        {"run", config.run}, {"pid", ::getpid()}, {"url", address.url}, {"socket", address.socket},
        {"token_file", address.tokenFile}, {"source", config.interface.string()},
        {"started_at", keeper.startedAt()}};
    result.update(stateJson());
    result["functions"] = keeper.schema() ? Json(keeper.schema()->names()) : Json::array();
    answer(id, result);
}

void ControlConnection::schema(std::int64_t id, const Json&, SharedText)
{
    const auto schema = m_server.keeper().schema();
    if (!schema)
        return refuse(id, {"not_loaded", "the interface file has not been loaded yet"});
    m_socket->send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id)
        + ",\"result\":{\"etag\":" + jsonString(schema->etag()) + ",\"schema\":" + schema->text() + "}}");
}

void ControlConnection::call(std::int64_t id, const Json& params, SharedText attachment)
{
    auto fn = requireString(params, "fn");
    if (!fn)
        return refuse(id, fn.error());
    CallRequest request;
    request.id = stringOr(params, "call");
    request.fn = std::move(*fn);
    const Json caller = objectOr(params, "caller");
    request.caller = {stringOr(caller, "kind", "person"), stringOr(caller, "name", "window"), {}};
    request.binary = boolOr(params, "binary", true);
    request.stream = boolOr(params, "stream", false);
    request.timeoutMs = integerOr(params, "timeout_ms");
    constexpr std::size_t checkInline = 256U << 10U;
    if (attachment.size() <= checkInline)
        return startCall(id, std::move(request), readArguments(attachment.view()));
    auto body = std::make_shared<Result<CallBody>>();
    m_server.keeper().background().run([attachment, body] { *body = readArguments(attachment.view()); },
        [weak = weak_from_this(), id, request = std::move(request), body] {
            if (const auto self = weak.lock())
                self->startCall(id, request, std::move(*body));
        });
}

void ControlConnection::startCall(std::int64_t id, CallRequest request, Result<CallBody> body)
{
    if (!body)
        return refuse(id, body.error());
    request.arguments = std::move(body->arguments);
    request.argumentsShape = body->shape;
    // A daemon that goes away takes nothing with it: the call ends by itself and its record waits in the
    // spool.
    const auto started =
        m_server.keeper().call(std::move(request), [weak = weak_from_this(), id](const CallEvent& event) {
            const auto self = weak.lock();
            if (self && event.kind == CallEvent::Kind::Done)
                self->answerCall(id, *event.outcome);
        });
    if (!started)
        refuse(id, started.error());
}

void ControlConnection::answerCall(std::int64_t id, const CallOutcome& outcome)
{
    if (outcome.record.empty())
        return refuse(id,
            {outcome.errorKind().empty() ? "lost" : outcome.errorKind(),
                stringOr(outcome.error, "message", "the record could not be written")});
    sendWithText(
        id, "\"seq\":" + std::to_string(outcome.seq) + ",\"record\":" + outcome.record, outcome.result);
}

void ControlConnection::cancel(std::int64_t id, const Json& params, SharedText)
{
    answer(id, {{"found", m_server.keeper().cancel(stringOr(params, "call"), boolOr(params, "force"))}});
}

void ControlConnection::reload(std::int64_t id, const Json&, SharedText)
{
    m_server.keeper().reload([weak = weak_from_this(), id](const Result<Json>& outcome) {
        const auto self = weak.lock();
        if (!self)
            return;
        if (outcome)
            self->answer(id, *outcome);
        else
            self->refuse(id, outcome.error());
    });
}

void ControlConnection::records(std::int64_t id, const Json& params, SharedText)
{
    const Spool& spool = m_server.keeper().spool();
    const auto since = static_cast<std::uint64_t>(std::max<std::int64_t>(1, integerOr(params, "since", 1)));
    m_nextRecord = std::min(std::max(since, spool.firstKept()), spool.nextSeq());
    answer(id, {{"next", m_nextRecord}});
    pumpRecords();
}

void ControlConnection::ack(std::int64_t id, const Json& params, SharedText)
{
    const std::int64_t seq = integerOr(params, "seq", -1);
    if (seq < 0)
        return refuse(id, {"params.type", "\"seq\" must be a number"});
    m_server.keeper().spool().acknowledge(static_cast<std::uint64_t>(seq));
    answer(id, Json::object());
}

void ControlConnection::mintToken(std::int64_t id, const Json& params, SharedText)
{
    const Json caller = objectOr(params, "caller");
    const TokenPtr token = m_server.keeper().tokens().mint(
        {stringOr(caller, "kind", "agent"), stringOr(caller, "name", "agent"), {}});
    if (const auto functions = params.find("functions"); functions != params.end() && functions->is_array()) {
        for (const Json& name : *functions)
            token->functions.push_back(name.is_string() ? name.get<std::string>() : std::string());
    }
    token->maxCalls = integerOr(params, "max_calls");
    token->callsPerMinute = integerOr(params, "calls_per_minute");
    answer(id, {{"token", token->secret}, {"id", token->id}});
}

void ControlConnection::revokeToken(std::int64_t id, const Json& params, SharedText)
{
    answer(id, {{"found", m_server.keeper().tokens().revoke(stringOr(params, "id"))}});
}

void ControlConnection::shutdown(std::int64_t id, const Json&, SharedText)
{
    answer(id, Json::object());
    m_server.shutdownRequested();
}

} // namespace gb::rpc
