// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxserver.h"

#include "boxconnection.h"

namespace gb::rpc {

Result<std::unique_ptr<BoxServer>> BoxServer::listen(Box& box, fs::path path)
{
    std::unique_ptr<BoxServer> server(new BoxServer(box));
    BoxServer* self = server.get();
    auto listener = UnixListener::listen(
        box.loop(), std::move(path), [self](UniqueFd fd) { self->accept(std::move(fd)); });
    if (!listener)
        return fail(listener.error());
    server->m_listener = std::move(*listener);
    return server;
}

BoxServer::~BoxServer()
{
    m_listener.reset();
    for (const auto& connection : m_connections)
        connection->close();
}

void BoxServer::accept(UniqueFd fd)
{
    constexpr std::size_t mostConnections = 64;
    if (m_connections.size() >= mostConnections)
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
