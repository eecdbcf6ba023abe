// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <future>

#include "background.h"
#include "dispatcher.h"
#include "interfaces.h"
#include "onmain.h"
#include "recordframe.h"
#include "services.h"

namespace gb::service {
namespace {

struct RunCallParams
{
    std::string interface;
    std::string fn;
    std::optional<JsonArray> args;
    std::optional<JsonObject> kwargs;
    std::optional<std::int64_t> timeoutMs;
    std::optional<bool> pin;
    static auto fields()
    {
        return std::tuple(field("interface", &RunCallParams::interface), field("fn", &RunCallParams::fn),
            field("args", &RunCallParams::args), field("kwargs", &RunCallParams::kwargs),
            field("timeout_ms", &RunCallParams::timeoutMs), field("pin", &RunCallParams::pin));
    }
};

struct CancelCallParams
{
    std::string call;
    std::optional<bool> force;
    static auto fields()
    {
        return std::tuple(field("call", &CancelCallParams::call), field("force", &CancelCallParams::force));
    }
};

struct CallParams
{
    std::string call;
    static auto fields() { return std::tuple(field("call", &CallParams::call)); }
};

struct ListCallsParams
{
    std::optional<std::string> filter;
    std::optional<std::string> before;
    std::optional<std::int64_t> limit;
    std::optional<std::string> interface;
    std::optional<std::string> run;
    static auto fields()
    {
        return std::tuple(field("filter", &ListCallsParams::filter),
            field("before", &ListCallsParams::before), field("limit", &ListCallsParams::limit),
            field("interface", &ListCallsParams::interface), field("run", &ListCallsParams::run));
    }
};

struct AnnotateParams
{
    std::string call;
    std::optional<bool> pin;
    std::optional<std::string> comment;
    static auto fields()
    {
        return std::tuple(field("call", &AnnotateParams::call), field("pin", &AnnotateParams::pin),
            field("comment", &AnnotateParams::comment));
    }
};

struct TensorParams
{
    std::optional<std::string> call;
    std::string interface;
    std::string handle;
    std::string what;
    std::optional<std::string> slice;
    std::optional<JsonObject> tile;
    static auto fields()
    {
        return std::tuple(field("call", &TensorParams::call), field("interface", &TensorParams::interface),
            field("handle", &TensorParams::handle), field("what", &TensorParams::what),
            field("slice", &TensorParams::slice), field("tile", &TensorParams::tile));
    }
};

std::string argumentsOf(const RunCallParams& params, std::string attachment)
{
    if (!attachment.empty())
        return attachment;
    return Json{{"args", params.args.value_or(JsonArray{}).json},
        {"kwargs", params.kwargs.value_or(JsonObject{}).json}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<CallFilter> filterOf(const ListCallsParams& params)
{
    auto filter = CallFilter::parse(params.filter.value_or(std::string()));
    if (filter && params.interface)
        filter->add(CallFilter::Field::Interface, *params.interface);
    if (filter && params.run)
        filter->add(CallFilter::Field::Run, *params.run);
    return filter;
}

Result<api::Answer> listCalls(const Store* store, const CallFilter& filter, const ListCallsParams& params)
{
    const auto limit = static_cast<int>(std::clamp<std::int64_t>(params.limit.value_or(50), 1, 1000));
    const auto page = store->listCalls(filter, params.before.value_or(std::string()), limit);
    if (!page)
        return fail(page.error());
    Json calls = Json::array();
    for (const std::string& text : page->calls) {
        if (auto summary = parseJson(text))
            calls.push_back(std::move(*summary));
    }
    Json body{{"calls", std::move(calls)}};
    if (!page->next.empty())
        body["next"] = page->next;
    return api::Answer{std::move(body), {}};
}

// In a thread of its own: the record of a call that has just been answered may be on its way to the disk.
Result<api::Answer> getCall(Store* store, const std::string& call)
{
    auto record = store->getCall(call);
    if (!record && record.error().code == "calls.unknown") {
        std::promise<void> settled;
        store->settle([&settled] { settled.set_value(); });
        settled.get_future().wait();
        record = store->getCall(call);
    }
    if (!record)
        return fail(record.error());
    return api::Answer{recordJson(*record), std::move(record->result)};
}

void tensor(Interfaces* interfaces, const TensorParams& params, Reply reply)
{
    Json wanted{{"handle", params.handle}, {"what", params.what}};
    if (params.slice)
        wanted["slice"] = *params.slice;
    if (params.tile)
        for (const auto& [key, value] : params.tile->json.items())
            if (value.is_number_integer())
                wanted[key] = value;
    interfaces->request(
        params.interface, "keeper.tensor", wanted, [reply](Result<api::Answer> answer) mutable {
            if (answer)
                reply.finish(std::move(*answer));
            else
                reply.refuse(answer.error());
        });
}

void annotate(Store* store, QObject* guard, const AnnotateParams& params, Reply reply)
{
    store->annotateCall(params.call, CallAnnotation{params.pin, params.comment},
        onMain<void>(guard, [reply](const Status& status) mutable {
            if (status)
                reply.finish(Json::object());
            else
                reply.refuse(status.error());
        }));
}

} // namespace

void bindCallMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    Interfaces* interfaces = services.interfaces;
    Store* store = services.store;
    // Its op is the call's id, under which the host takes no second call and the store finds the record.
    dispatcher->runAtOnce("calls.run");
    binder.bind<RunCallParams>(
        "calls.run", [interfaces](const RunCallParams& params, std::string attachment, Reply reply) {
            interfaces->run({params.interface, params.fn, argumentsOf(params, std::move(attachment)),
                                params.timeoutMs.value_or(0), params.pin.value_or(false)},
                std::move(reply));
        });
    binder.bind<CancelCallParams>(
        "calls.cancel", [interfaces](const CancelCallParams& params, const std::string&, Reply reply) {
            interfaces->cancel(params.call, params.force.value_or(false), std::move(reply));
        });
    binder.bind<ListCallsParams>(
        "calls.list", [store, dispatcher](ListCallsParams params, const std::string&, Reply reply) {
            auto filter = filterOf(params);
            if (!filter)
                return reply.refuse(filter.error());
            answerFromPool(dispatcher, std::move(reply),
                [store, filter = std::move(*filter), params = std::move(params)] {
                    return listCalls(store, filter, params);
                });
        });
    binder.bind<CallParams>(
        "calls.get", [store, dispatcher](const CallParams& params, const std::string&, Reply reply) {
            answerFromPool(
                dispatcher, std::move(reply), [store, call = params.call] { return getCall(store, call); });
        });
    binder.bind<AnnotateParams>(
        "calls.annotate", [store, dispatcher](const AnnotateParams& params, const std::string&, Reply reply) {
            annotate(store, dispatcher, params, std::move(reply));
        });
    binder.bind<TensorParams>(
        "calls.tensor", [interfaces](const TensorParams& params, const std::string&, Reply reply) {
            tensor(interfaces, params, std::move(reply));
        });
}

} // namespace gb::service
