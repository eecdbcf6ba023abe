// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "control.h"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "control_connection.h"

namespace gb::rpc {

Result<UniqueFd> listenUnix(const fs::path& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.size() >= sizeof address.sun_path)
        return fail("host.socket_path", "the path of a socket may have 107 bytes: " + text);
    std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    std::error_code ignored;
    if (fs::is_socket(fs::symlink_status(path, ignored)))
        fs::remove(path, ignored);
    const mode_t before = ::umask(0177);
    const int bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::umask(before);
    if (bound != 0 || ::listen(fd.get(), 64) != 0)
        return failErrno("cannot listen on", text, errno);
    return fd;
}

bool peerIsOurUser(int fd)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
        && (peer.uid == ::geteuid() || peer.uid == 0);
}

Result<std::unique_ptr<ControlServer>> ControlServer::listen(
    Keeper& keeper, const fs::path& path, HostAddress address, std::function<void()> onShutdown)
{
    auto listener = listenUnix(path);
    if (!listener)
        return fail(listener.error());
    std::unique_ptr<ControlServer> server(
        new ControlServer(keeper, path, std::move(address), std::move(onShutdown)));
    server->m_listener = std::move(*listener);
    ControlServer* self = server.get();
    server->m_watch =
        keeper.loop().watch(server->m_listener.get(), EPOLLIN, [self](std::uint32_t) { self->accept(); });
    return server;
}

ControlServer::~ControlServer()
{
    m_keeper.loop().unwatch(m_watch);
    for (const auto& connection : m_connections)
        connection->close();
    std::error_code ignored;
    fs::remove(m_path, ignored);
}

void ControlServer::accept()
{
    constexpr std::size_t mostConnections = 16;
    UniqueFd fd(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid() || m_connections.size() >= mostConnections || !peerIsOurUser(fd.get()))
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
