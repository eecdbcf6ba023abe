// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "message.h"

#include <algorithm>

namespace gb::rpc {
namespace {

std::string dumped(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int numberFor(const std::string& code)
{
    if (code.starts_with("json."))
        return -32700;
    if (code == "rpc.invalid")
        return -32600;
    if (code == "rpc.unknown_method")
        return -32601;
    if (code.starts_with("params."))
        return -32602;
    return -32000;
}

// The body is written where it stands: putting a large one into a document first would copy all of it.
void appendBody(std::string& text, std::string_view name, const Json& body, std::int64_t chunks)
{
    const bool object = body.is_object() || chunks == 0;
    text.append(",\"").append(name).append("\":").append(object ? dumped(body) : "{}");
    if (chunks > 0) {
        text.back() = body.empty() ? ' ' : ',';
        text += "\"chunks\":" + std::to_string(chunks) + "}";
    }
    text += '}';
}

std::int64_t chunksOf(const Json& body)
{
    return std::max<std::int64_t>(0, integerOr(body, "chunks"));
}

} // namespace

std::string encodeRequest(std::int64_t id, std::string_view method, const Json& params, std::int64_t chunks)
{
    std::string text =
        R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + ",\"method\":" + dumped(Json(method));
    appendBody(text, "params", params, chunks);
    return text;
}

std::string encodeNotification(std::string_view method, const Json& params)
{
    std::string text = R"({"jsonrpc":"2.0","method":)" + dumped(Json(method));
    appendBody(text, "params", params, 0);
    return text;
}

std::string encodeAnswer(std::int64_t id, const Json& result, std::int64_t chunks)
{
    std::string text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id);
    appendBody(text, "result", result, chunks);
    return text;
}

std::string encodeChunk(std::int64_t of, std::int64_t number)
{
    return encodeNotification("chunk", Json{{"of", of}, {"n", number}});
}

std::string encodeFailure(std::optional<std::int64_t> id, const Error& error)
{
    Json json{{"jsonrpc", "2.0"}, {"id", nullptr}};
    if (id)
        json["id"] = *id;
    json["error"] = Json{{"code", numberFor(error.code)}, {"message", error.message},
        {"data", Json{{"code", error.code}, {"data", error.data}}}};
    return dumped(json);
}

Result<Message> decodeMessage(std::string_view text)
{
    auto json = parseJson(text);
    if (!json)
        return fail(json.error());
    if (!json->is_object() || stringOr(*json, "jsonrpc") != "2.0")
        return fail("rpc.invalid", "not a JSON-RPC 2.0 message");

    Message message;
    const auto id = json->find("id");
    const bool hasId = id != json->end() && id->is_number_integer();
    if (hasId)
        message.id = id->get<std::int64_t>();

    if (const auto method = json->find("method"); method != json->end()) {
        if (!method->is_string() || (id != json->end() && !hasId))
            return fail("rpc.invalid", "a method is a string and an id an integer");
        message.kind = hasId ? Message::Kind::Request : Message::Kind::Notification;
        message.method = method->get<std::string>();
        const auto params = json->find("params");
        if (params != json->end() && !params->is_object())
            return fail("rpc.invalid", "params must be an object");
        message.body = params == json->end() ? Json::object() : std::move(*params);
        message.chunks = chunksOf(message.body);
        return message;
    }
    if (const auto error = json->find("error"); error != json->end()) {
        message.kind = Message::Kind::Failure;
        const Json data = objectOr(*error, "data");
        message.error =
            Error{stringOr(data, "code", "rpc.failed"), stringOr(*error, "message"), objectOr(data, "data")};
        return message;
    }
    if (const auto result = json->find("result"); hasId && result != json->end()) {
        message.kind = Message::Kind::Answer;
        message.body = std::move(*result);
        message.chunks = chunksOf(message.body);
        return message;
    }
    return fail("rpc.invalid", "neither a request nor an answer");
}

} // namespace gb::rpc
