// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxserver.h"

#include <sys/socket.h>

#include <rpc/keeper/control.h>

#include "boxconnection.h"

namespace gb::rpc {

Result<std::unique_ptr<BoxServer>> BoxServer::listen(Box& box, fs::path path)
{
    auto listener = listenUnix(path);
    if (!listener)
        return fail(listener.error());
    std::unique_ptr<BoxServer> server(new BoxServer(box, std::move(path)));
    server->m_listener = std::move(*listener);
    BoxServer* self = server.get();
    server->m_watch =
        box.loop().watch(server->m_listener.get(), EPOLLIN, [self](std::uint32_t) { self->accept(); });
    return server;
}

BoxServer::~BoxServer()
{
    m_box.loop().unwatch(m_watch);
    for (const auto& connection : m_connections)
        connection->close();
    std::error_code ignored;
    fs::remove(m_path, ignored);
}

void BoxServer::accept()
{
    constexpr std::size_t mostConnections = 64;
    UniqueFd fd(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid() || m_connections.size() >= mostConnections || !peerIsOurUser(fd.get()))
        return;
    auto connection = std::make_shared<BoxConnection>(*this);
    m_connections.insert(connection);
    connection->open(std::move(fd));
}

void BoxServer::drop(const std::shared_ptr<BoxConnection>& connection)
{
    connection->close();
    m_connections.erase(connection);
}

} // namespace gb::rpc
