// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxports.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>

#include <backend/base/ids.h>
#include <backend/base/json.h>
#include <rpc/keeper/unixlistener.h>

#include "portrelay.h"

namespace gb::rpc {
namespace {

constexpr std::size_t connectThreads = 4;
constexpr std::size_t mostPorts = 64;
constexpr std::size_t mostConnections = 128;
constexpr const char* loopback = "127.0.0.1";

Result<UniqueFd> listenTcp(int& port)
{
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0
        || ::listen(fd.get(), SOMAXCONN) != 0
        || ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return failErrno("cannot listen on", loopback, errno);
    port = ntohs(address.sin_port);
    return fd;
}

// A server whose queue is full for the moment is asked again.
Result<UniqueFd> connectInside(InitClient& init, const BoxPort& port)
{
    constexpr int mostTries = 100;
    constexpr std::chrono::milliseconds pause(10);
    for (int tries = 1;; ++tries) {
        auto connected = port.path.empty() ? init.connectPort(port.port) : init.connectSocket(port.path);
        const bool full = !connected && integerOr(connected.error().data, "errno") == EAGAIN;
        if (!full || tries == mostTries)
            return connected;
        std::this_thread::sleep_for(pause);
    }
}

} // namespace

Json BoxPort::toJson() const
{
    Json json{{"id", id}};
    if (path.empty())
        json["port_inside"] = port;
    else
        json["path"] = path;
    if (tcpPort == 0)
        json["socket"] = socket.string();
    else
        json.update({{"host", loopback}, {"port", tcpPort}});
    return json;
}

BoxPorts::BoxPorts(Loop& loop, InitClient& init, fs::path folder)
    : m_loop(loop), m_init(init), m_folder(std::move(folder)), m_threads(loop, connectThreads)
{ }

BoxPorts::~BoxPorts()
{
    for (auto& [id, listener] : m_listeners)
        shut(listener);
}

Result<BoxPort> BoxPorts::open(BoxPort port, bool tcp)
{
    const bool named = port.path.empty() ? port.port > 0 && port.port < 65536 : port.path.front() == '/';
    if (!named)
        return fail("params.range", "name a port from 1 to 65535, or the absolute path of a socket inside");
    if (m_listeners.size() >= mostPorts)
        return fail("sandbox.busy", "this sandbox already has " + std::to_string(mostPorts) + " open ports");
    port.id = newId();
    if (!tcp)
        port.socket = m_folder / (port.id + ".port");
    auto fd = tcp ? listenTcp(port.tcpPort) : listenUnix(port.socket);
    if (!fd)
        return fail(fd.error());
    Listener& listener = m_listeners[port.id];
    listener.port = port;
    listener.fd = std::move(*fd);
    listener.watch =
        m_loop.watch(listener.fd.get(), EPOLLIN, [this, id = port.id](std::uint32_t) { accept(id); });
    return port;
}

void BoxPorts::shut(Listener& listener)
{
    m_loop.unwatch(listener.watch);
    std::error_code ignored;
    if (!listener.port.socket.empty())
        fs::remove(listener.port.socket, ignored);
}

bool BoxPorts::close(const std::string& id)
{
    const auto found = m_listeners.find(id);
    if (found == m_listeners.end())
        return false;
    shut(found->second);
    m_listeners.erase(found);
    std::erase_if(m_relays, [&id](const auto& relay) { return relay.second.first == id; });
    return true;
}

Json BoxPorts::list() const
{
    Json ports = Json::array();
    for (const auto& [id, listener] : m_listeners)
        ports.push_back(listener.port.toJson());
    return ports;
}

void BoxPorts::accept(const std::string& id)
{
    const BoxPort& port = m_listeners.at(id).port;
    UniqueFd outside(::accept4(m_listeners.at(id).fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!outside.valid() || connections() >= mostConnections
        || (port.tcpPort == 0 && !peerIsOurUser(outside.get())))
        return;
    ++m_connecting;
    const auto held = std::make_shared<UniqueFd>(std::move(outside));
    inBackground(
        m_threads, [init = &m_init, port] { return connectInside(*init, port); },
        [this, id, held](Result<UniqueFd> inside) { join(id, std::move(*held), std::move(inside)); });
}

void BoxPorts::join(const std::string& id, UniqueFd outside, Result<UniqueFd> inside)
{
    --m_connecting;
    if (!inside || !m_listeners.contains(id))
        return;
    const std::uint64_t number = m_nextRelay++;
    m_relays[number] = {id,
        std::make_shared<PortRelay>(
            m_loop, std::move(outside), std::move(*inside), [this, number] { m_relays.erase(number); })};
}

} // namespace gb::rpc
