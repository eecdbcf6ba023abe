// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "control.h"

#include "control_connection.h"

namespace gb::rpc {

Result<std::unique_ptr<ControlServer>> ControlServer::listen(
    Keeper& keeper, const fs::path& path, HostAddress address, std::function<void()> onShutdown)
{
    std::unique_ptr<ControlServer> server(
        new ControlServer(keeper, std::move(address), std::move(onShutdown)));
    ControlServer* self = server.get();
    auto listener =
        UnixListener::listen(keeper.loop(), path, [self](UniqueFd fd) { self->accept(std::move(fd)); });
    if (!listener)
        return fail(listener.error());
    server->m_listener = std::move(*listener);
    return server;
}

ControlServer::~ControlServer()
{
    m_listener.reset();
    for (const auto& connection : m_connections)
        connection->close();
}

void ControlServer::accept(UniqueFd fd)
{
    constexpr std::size_t mostConnections = 16;
    if (m_connections.size() >= mostConnections)
        return;
    auto connection = std::make_shared<ControlConnection>(*this);
    m_connections.insert(connection);
    connection->open(std::move(fd));
}

void ControlServer::drop(const std::shared_ptr<ControlConnection>& connection)
{
    m_connections.erase(connection);
}

} // namespace gb::rpc
