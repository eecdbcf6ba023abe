// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include <rpc/keeper/keeper.h>

#include "http_rules.h"

namespace gb::rpc {

class HttpConnection;

// One request and the way to answer it. Safe to keep after the client has gone: every call is then without
// effect.
class HttpExchange
{
public:
    HttpExchange(std::weak_ptr<HttpConnection> connection, RequestHead head, TokenPtr token);

    const RequestHead& head() const { return m_head; }
    const std::string& body() const { return m_body; }
    const TokenPtr& token() const { return m_token; }

    // extra: whole header lines, each ended by \r\n
    void reply(int status, std::string_view type, const SharedText& body, std::string_view extra = {});
    void replyParts(int status, std::string_view type, const std::array<SharedText, 3>& body);
    void replyJson(int status, const Json& json);
    // {"ok": false, "error": {"kind", "message"}}
    void refuse(int status, std::string_view kind, std::string_view message);

    void beginStream(std::string_view type);
    void write(std::string_view text);
    void endStream();
    bool streaming() const { return m_streaming; }

    // Called once when the client goes away before its answer was complete.
    void onGone(std::function<void()> handler) { m_gone = std::move(handler); }

private:
    friend class HttpConnection;

    std::weak_ptr<HttpConnection> m_connection;
    RequestHead m_head;
    TokenPtr m_token;
    std::string m_body;
    std::function<void()> m_gone;
    bool m_streaming = false;
};
using HttpExchangePtr = std::shared_ptr<HttpExchange>;

// The listener and its connections. Boost.Beast reads the requests; sockets and waiting are the loop's.
class HttpServer
{
public:
    using Handler = std::function<void(const HttpExchangePtr&)>;

    static Result<std::unique_ptr<HttpServer>> listen(Keeper& keeper, Handler handler);
    ~HttpServer();

    int port() const { return m_port; } // 0 on a UNIX socket
    std::string url() const;

private:
    friend class HttpConnection;

    HttpServer(Keeper& keeper, Handler handler);
    Status open();
    void accept();
    void sweep();
    void drop(HttpConnection* connection);

    Keeper& m_keeper;
    HttpRules m_rules;
    Handler m_handler;
    UniqueFd m_listener;
    std::uint64_t m_watch = 0;
    std::uint64_t m_sweepTimer = 0;
    int m_port = 0;
    std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> m_connections;
};

} // namespace gb::rpc
