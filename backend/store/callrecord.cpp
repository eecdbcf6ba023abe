// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "callrecord.h"

#include <simdjson.h>

#include "jsontext.h"

namespace gb {
namespace {

namespace od = simdjson::ondemand;

constexpr std::size_t shortArgument = 300;
constexpr std::size_t shortPreview = 200;
constexpr std::size_t searchedResult = 4096;

std::string rawText(od::value value)
{
    std::string_view text;
    if (simdjson::to_json_string(value).get(text) != simdjson::SUCCESS)
        return "null";
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\t'))
        text.remove_suffix(1);
    return std::string(text);
}

std::string textOf(od::value value)
{
    std::string_view text;
    return value.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::int64_t integerOf(od::value value)
{
    std::int64_t number = 0;
    return value.get_int64().get(number) == simdjson::SUCCESS ? number : 0;
}

bool boolOf(od::value value)
{
    bool flag = false;
    return value.get_bool().get(flag) == simdjson::SUCCESS && flag;
}

template <typename Take>
void eachMember(od::value value, Take&& take)
{
    od::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS)
        return;
    for (auto member : object) {
        std::string_view key;
        od::value inner;
        if (member.unescaped_key().get(key) != simdjson::SUCCESS
            || member.value().get(inner) != simdjson::SUCCESS)
            return;
        take(std::string(key), inner);
    }
}

void takeInterface(CallRecord& record, od::value value)
{
    eachMember(value, [&](const std::string& key, od::value inner) {
        if (key == "id")
            record.interfaceId = textOf(inner);
        else if (key == "name")
            record.interfaceName = textOf(inner);
    });
}

void takeCaller(CallRecord& record, od::value value)
{
    eachMember(value, [&](const std::string& key, od::value inner) {
        if (key == "kind")
            record.callerKind = textOf(inner);
        else if (key == "name")
            record.callerName = textOf(inner);
        else if (key == "token")
            record.callerToken = textOf(inner);
    });
}

void takeTimes(CallRecord& record, od::value value)
{
    eachMember(value, [&](const std::string& key, od::value inner) {
        if (key == "queue")
            record.queueNs = integerOf(inner);
        else if (key == "compute")
            record.computeNs = integerOf(inner);
        else if (key == "serialise")
            record.serialiseNs = integerOf(inner);
        else if (key == "transfer")
            record.transferNs = integerOf(inner);
    });
}

struct TextField
{
    std::string_view key;
    std::string CallRecord::*member;
};
constexpr TextField textFields[] = {{"id", &CallRecord::id}, {"run", &CallRecord::run},
    {"fn", &CallRecord::fn}, {"state", &CallRecord::state}, {"result_digest", &CallRecord::resultDigest},
    {"preview", &CallRecord::preview}, {"comment", &CallRecord::comment}};
constexpr TextField rawFields[] = {{"args", &CallRecord::args}, {"output", &CallRecord::output},
    {"result", &CallRecord::result}, {"error", &CallRecord::error}, {"warnings", &CallRecord::warnings}};

struct IntegerField
{
    std::string_view key;
    std::int64_t CallRecord::*member;
};
constexpr IntegerField integerFields[] = {{"at", &CallRecord::at}, {"generation", &CallRecord::generation},
    {"result_bytes", &CallRecord::resultBytes}};

struct FlagField
{
    std::string_view key;
    bool CallRecord::*member;
};
constexpr FlagField flagFields[] = {{"output_cut", &CallRecord::outputCut},
    {"result_cut", &CallRecord::resultCut}, {"pinned", &CallRecord::pinned}};

void takeMember(CallRecord& record, const std::string& key, od::value value)
{
    for (const TextField& field : textFields)
        if (key == field.key)
            record.*field.member = textOf(value);
    for (const TextField& field : rawFields)
        if (key == field.key)
            record.*field.member = rawText(value);
    for (const IntegerField& field : integerFields)
        if (key == field.key)
            record.*field.member = integerOf(value);
    for (const FlagField& field : flagFields)
        if (key == field.key)
            record.*field.member = boolOf(value);
    if (key == "interface")
        takeInterface(record, value);
    else if (key == "caller")
        takeCaller(record, value);
    else if (key == "ns")
        takeTimes(record, value);
}

// Everything up to, but without, the arguments.
std::string openHead(const CallRecord& record)
{
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    std::string text = R"({"v":1,"id":)" + jsonString(record.id) + R"(,"run":)" + jsonString(record.run);
    text += R"(,"interface":{"id":)" + jsonString(record.interfaceId) + R"(,"name":)"
        + jsonString(record.interfaceName) + R"(},"fn":)" + jsonString(record.fn);
    text += R"(,"caller":{"kind":)" + jsonString(record.callerKind) + R"(,"name":)"
        + jsonString(record.callerName) + R"(,"token":)" + jsonString(record.callerToken) + R"(},"at":)"
        + number(record.at);
    text += R"(,"ns":{"queue":)" + number(record.queueNs) + R"(,"compute":)" + number(record.computeNs)
        + R"(,"serialise":)" + number(record.serialiseNs) + R"(,"transfer":)" + number(record.transferNs);
    text += R"(},"generation":)" + number(record.generation) + R"(,"state":)" + jsonString(record.state);
    return text;
}

std::string sizes(const CallRecord& record)
{
    const auto flag = [](bool value) { return value ? "true" : "false"; };
    std::string text = std::string(R"(,"output_cut":)") + flag(record.outputCut);
    text += R"(,"result_bytes":)" + std::to_string(record.resultBytes) + R"(,"result_digest":)"
        + jsonString(record.resultDigest) + R"(,"result_cut":)" + flag(record.resultCut);
    return text;
}

std::string shortValue(std::string_view raw)
{
    if (raw.size() <= shortArgument)
        return std::string(raw);
    return jsonString(std::string(cutText(raw, shortArgument)) + "…");
}

struct Arguments
{
    std::vector<std::string> positional; // JSON text each
    std::vector<std::pair<std::string, std::string>> named;
    bool valid = false;
};

Arguments splitArguments(std::string_view args)
{
    Arguments split;
    od::parser parser;
    const simdjson::padded_string padded(args);
    od::document document;
    od::value root;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS
        || document.get_value().get(root) != simdjson::SUCCESS)
        return split;
    split.valid = true;
    eachMember(root, [&](const std::string& key, od::value inner) {
        od::array array;
        if (key == "kwargs") {
            eachMember(inner, [&](const std::string& name, od::value value) {
                split.named.emplace_back(name, rawText(value));
            });
        } else if (key == "args" && inner.get_array().get(array) == simdjson::SUCCESS) {
            for (auto element : array) {
                od::value value;
                if (element.get(value) != simdjson::SUCCESS)
                    return;
                split.positional.push_back(rawText(value));
            }
        }
    });
    return split;
}

std::string shortArguments(std::string_view args)
{
    if (args.size() <= shortArgument)
        return std::string(args);
    constexpr std::size_t shownArguments = 32;
    const Arguments split = splitArguments(args);
    std::string text = R"({"args":[)";
    for (std::size_t i = 0; i < split.positional.size() && i < shownArguments; ++i)
        text += (i > 0 ? "," : "") + shortValue(split.positional[i]);
    text += R"(],"kwargs":{)";
    for (std::size_t i = 0; i < split.named.size() && i < shownArguments; ++i)
        text +=
            (i > 0 ? "," : "") + jsonString(split.named[i].first) + ":" + shortValue(split.named[i].second);
    return text + "}}";
}

// The sentence of the error where there is one, else the start of the result.
std::string shortResult(const CallRecord& record)
{
    if (record.error != "null" && !record.error.empty()) {
        od::parser parser;
        const simdjson::padded_string padded(record.error);
        od::document document;
        od::value root;
        std::string message;
        std::string type;
        if (parser.iterate(padded).get(document) == simdjson::SUCCESS
            && document.get_value().get(root) == simdjson::SUCCESS)
            eachMember(root, [&](const std::string& key, od::value value) {
                if (key == "message")
                    message = textOf(value);
                else if (key == "type")
                    type = textOf(value);
            });
        const std::string sentence = type.empty() ? message : type + ": " + message;
        return std::string(cutText(sentence, shortPreview));
    }
    return std::string(cutText(record.resultCut ? record.preview : record.result, shortPreview));
}

} // namespace

Result<CallRecord> CallRecord::parse(std::string_view json)
{
    if (!isJsonText(json))
        return fail("calls.bad_record", "the call record is not valid JSON");
    od::parser parser;
    const simdjson::padded_string padded(json);
    od::document document;
    od::value root;
    od::object object;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS
        || document.get_value().get(root) != simdjson::SUCCESS
        || root.get_object().get(object) != simdjson::SUCCESS)
        return fail("calls.bad_record", "the call record is not a JSON object");
    CallRecord record;
    for (auto member : object) {
        std::string_view key;
        od::value value;
        if (member.unescaped_key().get(key) != simdjson::SUCCESS
            || member.value().get(value) != simdjson::SUCCESS)
            return fail("calls.bad_record", "the call record cannot be read");
        takeMember(record, std::string(key), value);
    }
    return record;
}

std::string CallRecord::toJson(Include include) const
{
    std::string text = openHead(*this);
    if (include != Include::Head) {
        text += R"(,"args":)" + args + R"(,"output":)" + output + R"(,"error":)" + error + R"(,"warnings":)"
            + warnings;
    }
    text += sizes(*this);
    if (resultCut)
        text += R"(,"preview":)" + jsonString(preview);
    if (include == Include::All)
        text += R"(,"result":)" + result;
    text +=
        std::string(R"(,"pinned":)") + (pinned ? "true" : "false") + R"(,"comment":)" + jsonString(comment);
    return text + "}";
}

std::string openSummary(const CallRecord& record)
{
    std::string text = openHead(record) + R"(,"args":)" + shortArguments(record.args);
    text += sizes(record) + R"(,"duration_ns":)" + std::to_string(record.durationNs());
    return text + R"(,"preview":)" + jsonString(shortResult(record));
}

std::string searchText(const CallRecord& record)
{
    std::string text = record.fn + "\n" + everyCall + "\n" + readableJson(record.args, searchedResult) + "\n";
    text += readableJson(record.output, searchedResult) + "\n";
    if (record.error != "null")
        text += readableJson(record.error, searchedResult) + "\n";
    return text + readableJson(record.resultCut ? record.preview : record.result, searchedResult);
}

std::vector<std::pair<std::string, std::string>> scalarArguments(std::string_view args)
{
    constexpr std::size_t longestValue = 200;
    constexpr std::size_t mostArguments = 64;
    std::vector<std::pair<std::string, std::string>> scalars;
    const auto add = [&](std::string name, std::string_view raw) {
        if (raw.empty() || raw.front() == '{' || raw.front() == '[' || scalars.size() >= mostArguments)
            return;
        if (raw.front() == '"' && raw.size() >= 2)
            scalars.emplace_back(std::move(name), readableJson(raw.substr(1, raw.size() - 2), longestValue));
        else
            scalars.emplace_back(std::move(name), std::string(cutText(raw, longestValue)));
    };
    const Arguments split = splitArguments(args);
    for (std::size_t i = 0; i < split.positional.size(); ++i)
        add(std::to_string(i), split.positional[i]);
    for (const auto& [name, raw] : split.named)
        add(name, raw);
    return scalars;
}

} // namespace gb
