// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include <rpc/protocol/message.h>

#include "sharedtext.h"

namespace gb::rpc {

// The requests of one control link, each with its whole text: what arrives in chunks is put together first.
class RequestGatherer
{
public:
    struct Request
    {
        Message message;
        SharedText text;
    };

    // What cannot be taken is refused through `send`.
    RequestGatherer(std::int64_t mostChunks, std::function<void(std::string json)> send)
        : m_mostChunks(mostChunks), m_send(std::move(send))
    { }

    // A request that is complete with this frame.
    std::optional<Request> take(std::string_view json, SharedText attachment);

private:
    struct Gathering
    {
        Message message;
        std::string text;
        std::int64_t left = 0;
    };

    std::optional<Request> takeChunk(const Json& params, const SharedText& attachment);

    std::int64_t m_mostChunks;
    std::function<void(std::string json)> m_send;
    std::unordered_map<std::int64_t, Gathering> m_gathering;
};

template <typename Owner>
using RequestMethods = std::unordered_map<std::string,
    void (Owner::*)(std::int64_t id, const Json& params, SharedText attachment)>;

// Calls the method that the request names; false when there is none.
template <typename Owner>
bool dispatchRequest(Owner& owner, const RequestMethods<Owner>& methods, RequestGatherer::Request request)
{
    const auto found = methods.find(request.message.method);
    if (found == methods.end())
        return false;
    (owner.*found->second)(request.message.id, request.message.body, std::move(request.text));
    return true;
}

} // namespace gb::rpc
