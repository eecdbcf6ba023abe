// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "recordframe.h"

#include <simdjson.h>

#include <backend/base/json.h>

namespace gb::service {
namespace {

namespace od = simdjson::ondemand;

tl::unexpected<Error> badRecord(const char* what)
{
    return fail("calls.bad_record", std::string("a record from a keeper cannot be read: ") + what);
}

// `attached` names the parts of the attachment in their order, with their sizes.
Status takeAttached(od::object& params, std::string_view attachment, CallRecord& record)
{
    od::object attached;
    if (params.find_field_unordered("attached").get(attached) != simdjson::SUCCESS)
        return {};
    for (auto part : attached) {
        std::string_view name;
        std::uint64_t size = 0;
        if (part.unescaped_key().get(name) != simdjson::SUCCESS || part.value().get(size) != simdjson::SUCCESS
            || size > attachment.size())
            return badRecord("attachment");
        if (name == "args")
            record.args = attachment.substr(0, size);
        else if (name == "result")
            record.result = attachment.substr(0, size);
        attachment.remove_prefix(size);
    }
    return {};
}

} // namespace

bool isRecordFrame(const rpc::Frame& frame)
{
    return std::string_view(frame.json).substr(0, 80).find(R"("keeper.record")") != std::string_view::npos;
}

Result<SpooledRecord> readRecordFrame(const rpc::Frame& frame)
{
    od::parser parser;
    const simdjson::padded_string padded(frame.json);
    od::document document;
    od::object params;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS
        || document["params"].get(params) != simdjson::SUCCESS)
        return badRecord("not an object");
    SpooledRecord spooled;
    if (params.find_field_unordered("seq").get(spooled.seq) != simdjson::SUCCESS)
        return badRecord("seq");
    od::object object;
    std::string_view text;
    if (params.find_field_unordered("record").get(object) != simdjson::SUCCESS
        || object.raw_json().get(text) != simdjson::SUCCESS)
        return badRecord("record");
    auto record = CallRecord::parse(text);
    if (!record)
        return fail(record.error());
    if (record->id.empty() || record->run.empty())
        return badRecord("no id");
    spooled.record = std::move(*record);
    GB_TRY(takeAttached(params, frame.attachment, spooled.record));
    return spooled;
}

Json recordJson(const CallRecord& record)
{
    if (auto whole = parseJson(record.toJson(CallRecord::Include::WithoutResult)))
        return std::move(*whole);
    CallRecord plain = record;
    const auto quoteUnlessReadable = [](std::string& text) {
        if (!parseJson(text, {40, 2048}))
            text = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    for (std::string* text : {&plain.args, &plain.output, &plain.error, &plain.warnings})
        quoteUnlessReadable(*text);
    auto readable = parseJson(plain.toJson(CallRecord::Include::WithoutResult));
    return readable ? std::move(*readable) : Json{{"id", record.id}, {"state", record.state}};
}

} // namespace gb::service
