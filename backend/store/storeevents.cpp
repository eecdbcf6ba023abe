// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <backend/base/clock.h>

#include "jsontext.h"
#include "store_p.h"

namespace gb {
namespace {

bool isEventType(std::string_view type)
{
    return !type.empty() && type.size() <= 64 && std::all_of(type.begin(), type.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    });
}

Status checkEvents(const std::vector<NewEvent>& events)
{
    constexpr std::size_t largestEvent = 8U << 20U;
    for (const NewEvent& event : events) {
        if (!isEventType(event.type))
            return fail("events.bad_type",
                "an event's type is up to 64 of a-z 0-9 . _ -, got \"" + std::string(cutText(event.type, 64))
                    + "\"");
        if (event.data.size() > largestEvent)
            return fail("events.too_large", "an event holds at most 8 MiB; put larger things into a blob");
        if (!isJsonText(event.data))
            return fail("events.bad_data", "the data of a \"" + event.type + "\" event is not valid JSON");
    }
    return {};
}

Status writeEvents(StoreFile& file, const std::vector<NewEvent>& events, SeqRange& range)
{
    const std::int64_t now = wallMs();
    for (const NewEvent& event : events) {
        const Result<std::int64_t> seq = file.append(now, event.type, event.data);
        if (!seq)
            return fail(seq.error());
        range.last = *seq;
        if (range.first == 0)
            range.first = *seq;
    }
    return {};
}

} // namespace

void Store::appendEvents(const std::string& stream, std::vector<NewEvent> events, Done<SeqRange> done)
{
    const Result<std::string> file = d->fileOf(stream);
    if (!file)
        return done(fail(file.error()));
    if (events.empty())
        return done(fail("events.none", "no events to append"));
    if (Status checked = checkEvents(events); !checked)
        return done(fail(checked.error()));
    std::size_t bytes = 0;
    const auto redactor = d->redactor();
    for (NewEvent& event : events) {
        if (!redactor->empty())
            event.data = redactor->json(std::move(event.data));
        bytes += event.data.size() + 64;
    }
    auto range = std::make_shared<SeqRange>();
    WriteTask task;
    task.bytes = bytes;
    task.steps.push_back({*file, [events = std::move(events), range](StoreFile& opened) {
                              return writeEvents(opened, events, *range);
                          }});
    task.done = [range, done = std::move(done)](
                    const Status& status) { status ? done(*range) : done(fail(status.error())); };
    d->writer->submit(std::move(task));
}

Result<EventPage> Store::readEvents(
    const std::string& stream, std::int64_t since, int limit, std::size_t maxBytes) const
{
    constexpr int mostEvents = 10000;
    auto reader = stream == daemonStream ? d->readIndex() : d->readRun(stream);
    if (!reader)
        return fail(reader.error());
    const int wanted = std::clamp(limit, 1, mostEvents);
    // One more than asked for tells whether the stream goes on.
    auto rows = (*reader)->query(
        "SELECT seq, at, type, data FROM events WHERE seq >= ? ORDER BY seq LIMIT ?", since, wanted + 1);
    if (!rows)
        return fail(rows.error());
    EventPage page;
    page.next = std::max<std::int64_t>(since, 1);
    page.events = "[";
    for (;;) {
        const Result<bool> found = rows->next();
        if (!found)
            return fail(found.error());
        if (!*found)
            break;
        const std::size_t size = rows->view(3).size() + 96;
        if (page.count == wanted || (page.count > 0 && page.events.size() + size > maxBytes)) {
            page.more = true;
            break;
        }
        page.events.append(page.count > 0 ? ",{\"seq\":" : "{\"seq\":")
            .append(std::to_string(rows->integer(0)));
        page.events.append(",\"at\":").append(std::to_string(rows->integer(1)));
        page.events.append(",\"type\":\"").append(rows->view(2)).append("\",\"data\":").append(rows->view(3));
        page.events += '}';
        page.next = rows->integer(0) + 1;
        ++page.count;
    }
    page.events += ']';
    return page;
}

Result<std::int64_t> Store::lastSeq(const std::string& stream) const
{
    auto reader = stream == daemonStream ? d->readIndex() : d->readRun(stream);
    if (!reader)
        return fail(reader.error());
    return (*reader)->integer("SELECT max(seq) FROM events");
}

} // namespace gb
