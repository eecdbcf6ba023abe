// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include <backend/base/json.h>

namespace gb::rpc {

// JSON-RPC 2.0 as it stands in a frame. A request has an id, a notification none. Text that must travel as it
// came (arguments, results) goes into the frame's attachment, not into params.
struct Message
{
    enum class Kind { Request, Notification, Answer, Failure };

    Kind kind = Kind::Notification;
    std::int64_t id = 0;
    std::string method;
    Json body; // params, result, or nothing for a failure
    std::int64_t chunks =
        0; // how many frames of method "chunk" carry the attachment that did not fit in this one
    Error error;
};

std::string encodeRequest(
    std::int64_t id, std::string_view method, const Json& params, std::int64_t chunks = 0);
std::string encodeNotification(std::string_view method, const Json& params);
std::string encodeAnswer(std::int64_t id, const Json& result, std::int64_t chunks = 0);
// One piece of a text that does not fit into one attachment; the piece is the frame's attachment.
std::string encodeChunk(std::int64_t of, std::int64_t number);
// JSON-RPC wants a number as code: ours is always -32000 (or the reserved ones below), the real code stands
// in data.
std::string encodeFailure(std::optional<std::int64_t> id, const Error& error);

Result<Message> decodeMessage(std::string_view text);

} // namespace gb::rpc
