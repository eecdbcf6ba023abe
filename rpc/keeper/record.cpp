// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "record.h"

#include <backend/base/json.h>

namespace gb::rpc {
namespace {

constexpr std::size_t wholeUpTo = 1'000'000;
constexpr std::size_t attachmentLimit = 1U << 20U;
constexpr std::size_t previewBytes = 4096;

// A text stands inside the record only where every reader of messages can take it: their nesting and number
// of keys are limited, and the record itself adds three levels.
bool fitsInline(std::string_view text, const JsonShape& shape)
{
    return text.size() <= (64U << 10U) && shape.depth <= 48 && shape.mostKeys <= 2048;
}

void number(std::string& out, std::string_view key, std::int64_t value)
{
    out.append(",\"").append(key).append("\":").append(std::to_string(value));
}

void text(std::string& out, std::string_view key, std::string_view value)
{
    out.append(",\"").append(key).append("\":");
    appendJsonString(out, value);
}

void raw(std::string& out, std::string_view key, std::string_view json)
{
    out.append(",\"").append(key).append("\":").append(json);
}

void flag(std::string& out, std::string_view key, bool value)
{
    raw(out, key, value ? "true" : "false");
}

std::string dumped(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Cut between characters, so that the preview stays UTF-8.
std::string_view preview(std::string_view whole)
{
    std::size_t length = std::min(whole.size(), previewBytes);
    while (length > 0 && length < whole.size() && (static_cast<unsigned char>(whole[length]) & 0xc0) == 0x80)
        --length;
    return whole.substr(0, length);
}

void appendWho(std::string& out, const RecordParts& parts)
{
    text(out, "run", parts.host.run);
    out += ",\"interface\":{\"id\":";
    appendJsonString(out, parts.host.id);
    text(out, "name", parts.host.name);
    out += '}';
    text(out, "fn", parts.outcome.fn);
    const Caller& caller = parts.call.request.caller;
    out += ",\"caller\":{\"kind\":";
    appendJsonString(out, caller.kind);
    text(out, "name", caller.name);
    text(out, "token", caller.token);
    out += '}';
}

void appendTimes(std::string& out, const RecordParts& parts)
{
    number(out, "at", parts.call.atMs);
    const CallTimes& ns = parts.outcome.ns;
    out += ",\"ns\":{\"queue\":" + std::to_string(ns.queue);
    number(out, "compute", ns.compute);
    number(out, "serialise", ns.serialise);
    number(out, "transfer", ns.transfer);
    out += '}';
    number(out, "generation", parts.outcome.generation);
    text(out, "state", parts.outcome.state);
}

void appendOutput(std::string& out, const Call& call)
{
    out += ",\"output\":[";
    for (std::size_t i = 0; i < call.output.size(); ++i) {
        out += i == 0 ? "{\"stream\":" : ",{\"stream\":";
        appendJsonString(out, call.output[i].stream);
        text(out, "text", call.output[i].text);
        out += '}';
    }
    out += ']';
    flag(out, "output_cut", call.outputCut);
}

// Writes args and result: inline, in the attachment, or cut. Returns what goes into the attachment.
std::string appendValues(std::string& out, std::string& attached, const RecordParts& parts)
{
    const std::string_view arguments = parts.call.request.arguments.view();
    const std::string_view result = parts.outcome.result.view();
    const bool ok = parts.outcome.ok();
    const bool resultCut = ok && result.size() > wholeUpTo;
    const bool resultInline = fitsInline(result, parts.resultShape);
    const bool resultAttached = ok && !resultCut && !resultInline;
    const std::size_t room = attachmentLimit - (resultAttached ? result.size() : 0);
    const bool argsInline = fitsInline(arguments, parts.call.request.argumentsShape);
    const bool argsCut = !argsInline && arguments.size() > room;

    std::string attachment;
    raw(out, "args", argsInline ? arguments : "null");
    if (argsCut)
        flag(out, "args_cut", true);
    if (!argsInline && !argsCut) {
        attachment += arguments;
        attached += "\"args\":" + std::to_string(arguments.size());
    }
    appendOutput(out, parts.call);
    raw(out, "result", ok && !resultCut && resultInline && !result.empty() ? result : "null");
    if (resultAttached) {
        attachment += result;
        attached += (attached.empty() ? "\"result\":" : ",\"result\":") + std::to_string(result.size());
    }
    number(out, "result_bytes", static_cast<std::int64_t>(result.size()));
    text(out, "result_digest", parts.digest);
    flag(out, "result_cut", resultCut);
    if (resultCut)
        text(out, "preview", preview(result));
    return attachment;
}

} // namespace

RecordText makeRecord(const RecordParts& parts)
{
    std::string out;
    out.reserve(900 + parts.call.request.arguments.size()
        + std::min<std::size_t>(parts.outcome.result.size(), 64U << 10U));
    out += "{\"v\":1,\"id\":";
    appendJsonString(out, parts.outcome.id);
    appendWho(out, parts);
    appendTimes(out, parts);
    std::string attached;
    std::string attachment = appendValues(out, attached, parts);
    raw(out, "error", parts.outcome.ok() ? "null" : dumped(parts.outcome.error));
    raw(out, "warnings", parts.outcome.warnings.empty() ? "[]" : dumped(parts.outcome.warnings));
    out += '}';
    if (!attached.empty())
        attached = "{" + attached + "}";
    return {std::move(out), std::move(attached),
        attachment.empty() ? SharedText() : SharedText(std::move(attachment))};
}

} // namespace gb::rpc
