// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <rpc/exposure/exposure.h>

#include "dispatcher.h"
#include "interfaces.h"
#include "services.h"

namespace gb::service {
namespace {

struct ExposeParams
{
    std::string interface;
    std::string form;
    std::optional<std::string> name;
    std::optional<JsonArray> functions;
    std::optional<std::string> caller;
    std::optional<std::int64_t> maxCalls;
    std::optional<std::int64_t> callsPerMinute;
    std::optional<bool> preview;
    static auto fields()
    {
        return std::tuple(field("interface", &ExposeParams::interface), field("form", &ExposeParams::form),
            field("name", &ExposeParams::name), field("functions", &ExposeParams::functions),
            field("caller", &ExposeParams::caller), field("max_calls", &ExposeParams::maxCalls),
            field("calls_per_minute", &ExposeParams::callsPerMinute),
            field("preview", &ExposeParams::preview));
    }
};

Result<rpc::ExposeSpec> exposeSpec(const ExposeParams& params, const Json& item)
{
    rpc::ExposeSpec spec;
    const auto as = rpc::exposeAs(params.form);
    if (!as)
        return fail(
            "params.value", "form must be library, mcp, prompt or skill", Json{{"parameter", "form"}});
    spec.as = *as;
    spec.name = params.name.value_or(std::string());
    for (const Json& function : params.functions.value_or(JsonArray()).json) {
        if (!function.is_string())
            return fail("params.type", "functions must be names", Json{{"parameter", "functions"}});
        spec.functions.push_back(function.get<std::string>());
    }
    spec.url = stringOr(item, "url");
    spec.socket = stringOr(item, "socket");
    return spec;
}

// A token of its own for what is exposed, so that every call tells which exposure it came through.
Json tokenOrder(const ExposeParams& params, const rpc::ExposeSpec& spec, const rpc::Exposure& exposure)
{
    Json order{{"caller",
        Json{{"kind", params.caller.value_or("agent")}, {"name", exposure.name + " (" + params.form + ")"}}}};
    if (!spec.functions.empty())
        order["functions"] = spec.functions;
    if (params.maxCalls)
        order["max_calls"] = *params.maxCalls;
    if (params.callsPerMinute)
        order["calls_per_minute"] = *params.callsPerMinute;
    return order;
}

void exposeInterface(Interfaces* interfaces, const ExposeParams& params, Reply reply)
{
    const auto item = interfaces->find(params.interface);
    if (!item)
        return reply.refuse(item.error());
    auto spec = exposeSpec(params, *item);
    if (!spec)
        return reply.refuse(spec.error());
    const std::string caller = params.caller.value_or("agent");
    if (caller != "agent" && caller != "script")
        return reply.refuse(
            {"params.value", "caller must be agent or script", Json{{"parameter", "caller"}}});
    const std::string id = stringOr(*item, "id");
    const auto write = [interfaces, id, params, spec = *spec, reply](Result<api::Answer> answer) mutable {
        if (!answer)
            return reply.refuse(answer.error());
        const Json schema = objectOr(answer->body, "schema");
        auto bare = rpc::expose(schema, spec);
        if (!bare)
            return reply.refuse(bare.error());
        // What somebody only wants to look at opens nothing.
        if (params.preview.value_or(false))
            return reply.finish(bare->toJson());
        interfaces->request(id, "keeper.tokens.mint", tokenOrder(params, spec, *bare),
            [spec, schema, reply](Result<api::Answer> minted) mutable {
                if (!minted)
                    return reply.refuse(minted.error());
                spec.token = stringOr(minted->body, "token");
                auto exposure = rpc::expose(schema, spec);
                if (!exposure)
                    return reply.refuse(exposure.error());
                Json result = exposure->toJson();
                result["token_id"] = stringOr(minted->body, "id");
                reply.finish(std::move(result));
            });
    };
    interfaces->request(id, "keeper.schema", Json::object(), write);
}

} // namespace

void bindExposeMethods(Dispatcher* dispatcher, const Services& services)
{
    dispatcher->binder().bind<ExposeParams>("interfaces.expose",
        [interfaces = services.interfaces](const ExposeParams& params, const std::string&, Reply reply) {
            exposeInterface(interfaces, params, std::move(reply));
        });
}

} // namespace gb::service
