// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include <rpc/keeper/keeper.h>

#include "http_server.h"

namespace gb::rpc {

class EventStream;
class KeeperMcp;

// How a caller wants a result: what plain JSON can say, the record form, or that with long lists of numbers
// as bytes.
enum class ResultForm { Plain, Record, Packed };

// Which request goes where: the original format at /, everything else under /v1. README.md is the reference.
class Router
{
public:
    explicit Router(Keeper& keeper);
    ~Router();

    void handle(const HttpExchangePtr& exchange);

private:
    using Route = void (Router::*)(const HttpExchangePtr& exchange, const std::string& rest);
    struct Entry
    {
        std::string_view method;
        std::string_view path; // ends with / when something follows
        Route route;
    };
    static const std::vector<Entry>& table();

    // routes_original.cpp
    void originalList(const HttpExchangePtr& exchange, const std::string& rest);
    void originalCall(const HttpExchangePtr& exchange, const std::string& rest);
    void startOriginal(const HttpExchangePtr& exchange, Result<CallRequest> request);
    // routes_calls.cpp
    void health(const HttpExchangePtr& exchange, const std::string& rest);
    void schema(const HttpExchangePtr& exchange, const std::string& rest);
    void reload(const HttpExchangePtr& exchange, const std::string& rest);
    void call(const HttpExchangePtr& exchange, const std::string& rest);
    void startCall(const HttpExchangePtr& exchange, Result<CallRequest> request);
    void answerCall(const HttpExchangePtr& exchange, const CallEvent& event, ResultForm form);
    void callState(const HttpExchangePtr& exchange, const std::string& rest);
    void cancelCall(const HttpExchangePtr& exchange, const std::string& rest);
    // routes_tensors.cpp
    void tensor(const HttpExchangePtr& exchange, const std::string& rest);
    void tensorStats(const HttpExchangePtr& exchange, const std::string& handle);
    void tensorTile(const HttpExchangePtr& exchange, const std::string& handle);
    void releaseTensor(const HttpExchangePtr& exchange, const std::string& handle);
    // routes_events.cpp
    void events(const HttpExchangePtr& exchange, const std::string& rest);
    void mcp(const HttpExchangePtr& exchange, const std::string& rest);

    Keeper& m_keeper;
    std::unique_ptr<EventStream> m_events;
    std::unique_ptr<KeeperMcp> m_mcp;
};

// Shared by the routes.
// What the one who asks may call; null while no file is loaded.
std::shared_ptr<const Schema> visibleSchema(const Keeper& keeper, const Token& token);
// The body as a call, checked; a long one is checked beside the loop, so `take` may come later, and does not
// come when the client has gone meanwhile.
void readCall(Keeper& keeper, const HttpExchangePtr& exchange, std::function<void(Result<CallRequest>)> take);
void refuseCall(HttpExchange& exchange, const Error& error);
// The result in that form. Large ones are written beside the loop; take may therefore come later. streamed:
// the items have been sent one by one.
void resultFor(Keeper& keeper, const CallEvent& done, ResultForm form,
    std::function<void(const SharedText&)> take, bool streamed = false);
// What this caller may read of an error: agents do not see where things lie on this machine.
Json visibleError(const Json& error, const Caller& caller, const HostConfig& config);

} // namespace gb::rpc
