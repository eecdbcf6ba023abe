// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "router.h"

#include <backend/base/clock.h>
#include <backend/base/json.h>
#include <rpc/keeper/packed_floats.h>
#include <rpc/keeper/values.h>

#include "event_stream.h"
#include "mcp_host.h"

namespace gb::rpc {
namespace {

std::string withoutFolder(std::string text, const std::string& folder)
{
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
        text.erase(at, folder.size());
    return text;
}

int statusOf(const std::string& kind)
{
    if (kind == "unknown_function")
        return 404;
    if (kind == "not_allowed")
        return 403;
    if (kind == "busy")
        return 429;
    if (kind == "not_loaded" || kind == "shutting_down" || kind == "no_room")
        return 503;
    return 400;
}

} // namespace

Router::Router(Keeper& keeper)
    : m_keeper(keeper), m_events(std::make_unique<EventStream>(keeper)),
      m_mcp(std::make_unique<KeeperMcp>(keeper))
{ }

Router::~Router() = default;

const std::vector<Router::Entry>& Router::table()
{
    static const std::vector<Entry> entries{
        {"POST", "/", &Router::originalCall},
        {"GET", "/", &Router::originalList},
        {"POST", "/v1/calls", &Router::call},
        {"GET", "/v1/calls/", &Router::callState},
        {"POST", "/v1/calls/", &Router::cancelCall},
        {"GET", "/v1/health", &Router::health},
        {"GET", "/v1/schema", &Router::schema},
        {"GET", "/v1/tensors/", &Router::tensor},
        {"DELETE", "/v1/tensors/", &Router::releaseTensor},
        {"GET", "/v1/events", &Router::events},
        {"POST", "/v1/reload", &Router::reload},
        {"POST", "/mcp", &Router::mcp},
    };
    return entries;
}

void Router::mcp(const HttpExchangePtr& exchange, const std::string&)
{
    // Read as a document, in the loop; a larger one would keep everybody waiting.
    constexpr std::size_t largest = 4U << 20U;
    if (exchange->body().size() > largest)
        return exchange->refuse(413, "body_too_large", "a message of this protocol takes up to 4 MiB");
    m_mcp->handle(exchange);
}

void Router::handle(const HttpExchangePtr& exchange)
{
    const std::string& path = exchange->head().path;
    bool known = false;
    for (const Entry& entry : table()) {
        const bool prefix = entry.path.size() > 1 && entry.path.back() == '/';
        if (prefix ? !path.starts_with(entry.path) : path != entry.path)
            continue;
        known = true;
        if (exchange->head().method == entry.method)
            return (this->*entry.route)(exchange, path.substr(entry.path.size()));
    }
    if (known)
        return exchange->refuse(405, "method", "this address does not take this method");
    exchange->refuse(404, "not_found", "there is nothing at this address");
}

namespace {

Result<CallRequest> requestOf(Keeper& keeper, const HttpExchange& exchange, Result<CallBody> body)
{
    if (!body)
        return fail(body.error());
    const auto schema = keeper.schema();
    // What a token may not call and what does not exist are one to it, or it could find out names.
    if (schema && !(exchange.token()->allows(body->fn) && schema->find(body->fn)))
        return fail(unknownFunction(*schema, body->fn,
            [&token = *exchange.token()](std::string_view name) { return token.allows(name); }));
    GB_TRY(keeper.tokens().charge(*exchange.token(), body->fn, wallMs()));
    CallRequest request;
    request.id = std::move(body->id);
    request.fn = std::move(body->fn);
    request.arguments = std::move(body->arguments);
    request.argumentsShape = body->shape;
    request.timeoutMs = body->timeoutMs;
    request.caller = exchange.token()->caller;
    return request;
}

} // namespace

std::shared_ptr<const Schema> visibleSchema(const Keeper& keeper, const Token& token)
{
    auto schema = keeper.schema();
    if (!schema || token.functions.empty())
        return schema;
    auto part = schema->restrictedTo([&token](std::string_view name) { return token.allows(name); });
    return part ? *part : nullptr;
}

void readCall(Keeper& keeper, const HttpExchangePtr& exchange, std::function<void(Result<CallRequest>)> take)
{
    constexpr std::size_t checkInline = 256U << 10U;
    if (exchange->body().size() <= checkInline)
        return take(requestOf(keeper, *exchange, readCallBody(exchange->body())));
    auto gone = std::make_shared<bool>(false);
    exchange->onGone([gone] { *gone = true; });
    auto body = std::make_shared<Result<CallBody>>();
    keeper.background().run([exchange, body] { *body = readCallBody(exchange->body()); },
        [&keeper, exchange, body, gone, take = std::move(take)] {
            if (!*gone)
                take(requestOf(keeper, *exchange, std::move(*body)));
        });
}

void resultFor(Keeper& keeper, const CallEvent& done, ResultForm form,
    std::function<void(const SharedText&)> take, bool streamed)
{
    const CallOutcome& outcome = *done.outcome;
    const SharedText& result = streamed && outcome.returned ? *outcome.returned : outcome.result;
    if (form == ResultForm::Record || (form == ResultForm::Plain && !outcome.special))
        return take(result);
    const auto convert = [text = result, tensors = done.tensors, form]() -> SharedText {
        if (form == ResultForm::Packed) {
            auto packed = packFloats(text.view());
            return packed ? SharedText(std::move(*packed)) : text;
        }
        std::size_t unsaid = 0;
        return SharedText(plainForm(
            text.view(),
            [&tensors](const std::string& handle) -> TensorPtr {
                for (const TensorPtr& tensor : tensors) {
                    if (tensor->handle() == handle)
                        return tensor;
                }
                return nullptr;
            },
            unsaid));
    };
    std::size_t work = result.size();
    for (const TensorPtr& tensor : done.tensors)
        work += tensor->elements() * 10;
    constexpr std::size_t convertInline = 256U << 10U;
    if (work <= convertInline)
        return take(convert());
    auto text = std::make_shared<SharedText>();
    keeper.background().run(
        [text, convert] { *text = convert(); }, [text, take = std::move(take)] { take(*text); });
}

void refuseCall(HttpExchange& exchange, const Error& error)
{
    exchange.replyJson(
        statusOf(error.code), {{"ok", false}, {"error", {{"kind", error.code}, {"message", error.message}}}});
}

Json visibleError(const Json& error, const Caller& caller, const HostConfig& config)
{
    if (caller.kind != "agent" || config.showPaths)
        return error;
    const std::string folder = config.interface.parent_path().string() + "/";
    Json visible{{"kind", stringOr(error, "kind")}, {"type", stringOr(error, "type")},
        {"message", withoutFolder(stringOr(error, "message"), folder)}, {"traceback", ""}};
    for (const char* key : {"argument", "where"}) {
        if (error.contains(key))
            visible[key] = error[key];
    }
    Json frames = Json::array();
    for (const Json& frame : error.value("frames", Json::array())) {
        if (boolOr(frame, "user"))
            frames.push_back({{"file", fs::path(stringOr(frame, "file")).filename().string()},
                {"line", integerOr(frame, "line")}, {"function", stringOr(frame, "function")}});
    }
    visible["frames"] = std::move(frames);
    return visible;
}

} // namespace gb::rpc
