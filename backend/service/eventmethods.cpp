// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <backend/base/ids.h>

#include "dispatcher.h"
#include "eventfeeds.h"
#include "onmain.h"
#include "services.h"

namespace gb::service {
namespace {

struct AppendParams
{
    std::string stream;
    JsonArray events;
    static auto fields()
    {
        return std::tuple(field("stream", &AppendParams::stream), field("events", &AppendParams::events));
    }
};

struct ReadParams
{
    std::string stream;
    std::int64_t since = 0;
    std::optional<std::int64_t> limit;
    static auto fields()
    {
        return std::tuple(field("stream", &ReadParams::stream), field("since", &ReadParams::since),
            field("limit", &ReadParams::limit));
    }
};

struct SubscribeParams
{
    std::string stream;
    std::int64_t since = 0;
    static auto fields()
    {
        return std::tuple(field("stream", &SubscribeParams::stream), field("since", &SubscribeParams::since));
    }
};

struct StreamParams
{
    std::string stream;
    static auto fields() { return std::tuple(field("stream", &StreamParams::stream)); }
};

// One event has to fit into a frame together with what surrounds it, for everyone who reads it later.
constexpr std::size_t eventLimit = 4U << 20U;

// Most data is plain text or numbers; this spares the general writer for the former.
std::string textOf(const Json& data)
{
    if (data.is_string()) {
        const auto& text = data.get_ref<const std::string&>();
        const auto isPlain = [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; };
        if (std::ranges::all_of(text, isPlain))
            return '"' + text + '"';
    }
    return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<NewEvent>> decodeEvents(const Json& events)
{
    std::vector<NewEvent> decoded;
    decoded.reserve(events.size());
    for (const Json& event : events) {
        const auto type = event.is_object() ? event.find("type") : event.end();
        if (!event.is_object() || type == event.end() || !type->is_string())
            return fail("params.type", "an event is {type, data}");
        const auto data = event.find("data");
        std::string text = data == event.end() ? "null" : textOf(*data);
        if (text.size() > eventLimit)
            return fail("events.too_large", "an event takes up to 4 MiB");
        decoded.push_back({type->get<std::string>(), std::move(text)});
    }
    if (decoded.empty())
        return fail("params.type", "there is no event to append");
    return decoded;
}

Status checkStream(const std::string& stream)
{
    if (stream == daemonStream || isId(stream))
        return {};
    return fail(
        "events.unknown_stream", "a stream is \"daemon\" or the id of a run", Json{{"stream", stream}});
}

bool sameEvent(const Json& stored, const NewEvent& wanted)
{
    const auto data = stored.find("data");
    return stringOr(stored, "type") == wanted.type && data != stored.end() && textOf(*data) == wanted.data;
}

// An earlier daemon may have appended these events and died before it could say so. The intent knows where
// the stream ended then; a batch is appended as a whole, so it is there in one piece or not at all.
std::optional<SeqRange> findAppended(
    Store* store, const std::string& op, const std::string& stream, const std::vector<NewEvent>& events)
{
    const auto intents = store->intents();
    if (!intents)
        return std::nullopt;
    const auto mine = std::ranges::find(*intents, op, &Intent::id);
    const auto data = mine == intents->end() ? Result<Json>(Json::object()) : parseJson(mine->data);
    if (mine == intents->end() || !data)
        return std::nullopt;
    std::size_t matched = 0;
    std::int64_t since = integerOr(*data, "last") + 1;
    for (;;) {
        const auto page = store->readEvents(stream, since);
        const auto stored = page ? parseJson(page->events) : Result<Json>(fail(page.error()));
        if (!stored || page->count == 0)
            return std::nullopt;
        for (const Json& event : *stored) {
            if (!sameEvent(event, events[matched]))
                matched = 0;
            if (!sameEvent(event, events[matched]))
                continue;
            ++matched;
            if (matched == events.size()) {
                const std::int64_t last = integerOr(event, "seq");
                return SeqRange{last - static_cast<std::int64_t>(matched) + 1, last};
            }
        }
        since = page->next;
    }
}

void append(const Services& services, QObject* guard, const AppendParams& params, Reply reply)
{
    auto events = decodeEvents(params.events.json);
    const Status stream = checkStream(params.stream);
    if (!events || !stream)
        return reply.refuse(stream ? events.error() : stream.error());
    const auto answer = [](const SeqRange& range) {
        return Json{{"first", range.first}, {"last", range.last}};
    };
    if (reply.isResumed()) {
        if (const auto range = findAppended(services.store, reply.op(), params.stream, *events))
            return reply.finish(answer(*range));
    }
    services.store->appendEvents(params.stream, std::move(*events),
        onMain<SeqRange>(guard, [reply, answer](Result<SeqRange> range) mutable {
            if (range)
                reply.finish(answer(*range));
            else
                reply.refuse(range.error());
        }));
}

Result<Json> read(const Store* store, const ReadParams& params)
{
    GB_TRY(checkStream(params.stream));
    const auto limit = static_cast<int>(std::clamp<std::int64_t>(params.limit.value_or(1000), 1, 10'000));
    const auto page = store->readEvents(params.stream, std::max<std::int64_t>(params.since, 1), limit);
    if (!page)
        return fail(page.error());
    auto events = parseJson(page->events);
    if (!events)
        return fail(events.error());
    return Json{{"events", std::move(*events)}, {"next", page->next}};
}

Result<Json> subscribe(EventFeeds* feeds, const SubscribeParams& params, Connection* connection)
{
    GB_TRY(checkStream(params.stream));
    const auto next = feeds->subscribe(connection, params.stream, params.since);
    if (!next)
        return fail(next.error());
    return Json{{"next", *next}};
}

} // namespace

void bindEventMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    dispatcher->setIntent("events.append", [store = services.store](const Json& params) {
        return Json{{"last", store->lastSeq(stringOr(params, "stream")).value_or(0)}}.dump();
    });
    binder.bind<AppendParams>(
        "events.append", [services, dispatcher](const AppendParams& params, const std::string&, Reply reply) {
            append(services, dispatcher, params, std::move(reply));
        });
    binder.bind<ReadParams>(
        "events.read", [store = services.store](const ReadParams& params) { return read(store, params); });
    binder.bind<SubscribeParams>("events.subscribe",
        [feeds = services.feeds](const SubscribeParams& params, const std::string&, Reply reply) {
            reply.finish(subscribe(feeds, params, reply.connection()));
        });
    binder.bind<StreamParams>("events.unsubscribe",
        [feeds = services.feeds](const StreamParams& params, const std::string&, Reply reply) {
            feeds->unsubscribe(reply.connection(), params.stream);
            reply.finish(Json::object());
        });
}

} // namespace gb::service
