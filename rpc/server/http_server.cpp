// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "http_server.h"

#include <cerrno>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <backend/base/clock.h>
#include <backend/base/json.h>
#include <rpc/keeper/unixlistener.h>

#include "http_connection.h"

namespace gb::rpc {
namespace {

constexpr std::int64_t sweepEveryMs = 250;

Result<UniqueFd> listenLoopback(int port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0
        || ::listen(fd.get(), 256) != 0)
        return failErrno("cannot listen on", "127.0.0.1:" + std::to_string(port), errno);
    return fd;
}

} // namespace

HttpExchange::HttpExchange(std::weak_ptr<HttpConnection> connection, RequestHead head, TokenPtr token)
    : m_connection(std::move(connection)), m_head(std::move(head)), m_token(std::move(token))
{ }

void HttpExchange::reply(int status, std::string_view type, const SharedText& body, std::string_view extra)
{
    if (const auto connection = m_connection.lock())
        connection->send(*this, status, type, {body}, extra);
}

void HttpExchange::replyParts(int status, std::string_view type, const std::array<SharedText, 3>& body)
{
    if (const auto connection = m_connection.lock())
        connection->send(*this, status, type, body, {});
}

void HttpExchange::replyJson(int status, const Json& json)
{
    reply(status, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void HttpExchange::refuse(int status, std::string_view kind, std::string_view message)
{
    replyJson(status, {{"ok", false}, {"error", {{"kind", kind}, {"message", message}}}});
}

void HttpExchange::beginStream(std::string_view type)
{
    m_streaming = true;
    if (const auto connection = m_connection.lock())
        connection->beginStream(*this, type);
}

void HttpExchange::write(std::string_view text)
{
    if (const auto connection = m_connection.lock())
        connection->streamText(*this, text);
}

void HttpExchange::endStream()
{
    if (const auto connection = m_connection.lock())
        connection->endStream(*this);
}

HttpServer::HttpServer(Keeper& keeper, Handler handler)
    : m_keeper(keeper), m_rules(keeper.config(), keeper.tokens()), m_handler(std::move(handler))
{ }

Result<std::unique_ptr<HttpServer>> HttpServer::listen(Keeper& keeper, Handler handler)
{
    std::unique_ptr<HttpServer> server(new HttpServer(keeper, std::move(handler)));
    GB_TRY(server->open());
    return server;
}

Status HttpServer::open()
{
    const HostConfig& config = m_keeper.config();
    auto listener = config.socket.empty() ? listenLoopback(config.port) : listenUnix(config.socket);
    if (!listener)
        return fail(listener.error());
    m_listener = std::move(*listener);
    if (config.socket.empty()) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        ::getsockname(m_listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
        m_port = ntohs(address.sin_port);
    }
    m_rules.setPort(m_port);
    m_watch = m_keeper.loop().watch(m_listener.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
    return {};
}

HttpServer::~HttpServer()
{
    m_keeper.loop().unwatch(m_watch);
    m_keeper.loop().cancelTimer(m_sweepTimer);
    const auto connections = std::move(m_connections);
    for (const auto& [raw, connection] : connections)
        connection->close();
    if (!m_keeper.config().socket.empty()) {
        std::error_code ignored;
        fs::remove(m_keeper.config().socket, ignored);
    }
}

std::string HttpServer::url() const
{
    return m_port == 0 ? std::string() : "http://127.0.0.1:" + std::to_string(m_port);
}

void HttpServer::accept()
{
    for (int i = 0; i < 16; ++i) {
        UniqueFd fd(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!fd.valid())
            return;
        if (m_connections.size() >= static_cast<std::size_t>(m_keeper.config().limits.connections))
            continue;
        auto connection = std::make_shared<HttpConnection>(*this, std::move(fd), m_port == 0);
        m_connections.emplace(connection.get(), connection);
        connection->open();
        if (m_sweepTimer == 0)
            m_sweepTimer = m_keeper.loop().after(sweepEveryMs, [this] { sweep(); });
    }
}

// One timer for all deadlines, and none while nobody is connected.
void HttpServer::sweep()
{
    m_sweepTimer = 0;
    const std::int64_t now = monotonicNs();
    std::vector<std::shared_ptr<HttpConnection>> all;
    all.reserve(m_connections.size());
    for (const auto& [raw, connection] : m_connections)
        all.push_back(connection);
    for (const auto& connection : all)
        connection->checkDeadline(now);
    if (!m_connections.empty())
        m_sweepTimer = m_keeper.loop().after(sweepEveryMs, [this] { sweep(); });
}

void HttpServer::drop(HttpConnection* connection)
{
    m_connections.erase(connection);
}

} // namespace gb::rpc
