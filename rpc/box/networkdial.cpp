// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "networkdial.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <backend/base/clock.h>

namespace gb::rpc {
namespace {

constexpr int connectMs = 8'000;
constexpr int answerMs = 15'000;

struct SocketAddress
{
    sockaddr_storage storage{};
    socklen_t size = 0;
};

SocketAddress socketAddress(const NetworkAddress& address, int port)
{
    SocketAddress out;
    if (address.family == AF_INET) {
        sockaddr_in in{};
        in.sin_family = AF_INET;
        in.sin_port = htons(static_cast<std::uint16_t>(port));
        std::memcpy(&in.sin_addr, address.bytes.data(), sizeof in.sin_addr);
        std::memcpy(&out.storage, &in, sizeof in);
        out.size = sizeof in;
    } else {
        sockaddr_in6 in{};
        in.sin6_family = AF_INET6;
        in.sin6_port = htons(static_cast<std::uint16_t>(port));
        std::memcpy(&in.sin6_addr, address.bytes.data(), sizeof in.sin6_addr);
        std::memcpy(&out.storage, &in, sizeof in);
        out.size = sizeof in;
    }
    return out;
}

Result<UniqueFd> connectTo(const NetworkAddress& address, int port)
{
    UniqueFd fd(::socket(address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid())
        return failErrno("cannot make", "a socket", errno);
    const SocketAddress to = socketAddress(address, port);
    int error = 0;
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.size) != 0)
        error = errno;
    if (error == EINPROGRESS) {
        pollfd connected{fd.get(), POLLOUT, 0};
        socklen_t size = sizeof error;
        error = ETIMEDOUT;
        if (::poll(&connected, 1, connectMs) == 1)
            ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error != 0)
        return failErrno("cannot connect to", address.text(), error);
    const int atOnce = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &atOnce, sizeof atOnce);
    return fd;
}

Result<UniqueFd> connectToAny(const std::vector<NetworkAddress>& addresses, const NetworkTarget& target)
{
    constexpr std::size_t mostTries = 3;
    Error last{"network.unreachable", target.host + " has no address"};
    for (std::size_t i = 0; i < addresses.size() && i < mostTries; ++i) {
        auto fd = connectTo(addresses[i], target.port);
        if (fd)
            return fd;
        last = {"network.unreachable", target.text() + ": " + fd.error().message};
    }
    return fail(last);
}

// The head of an answer, byte by byte, because what follows belongs to the tunnel.
Result<std::string> readHead(int fd)
{
    constexpr std::size_t longest = 16U << 10U;
    const std::int64_t deadline = monotonicNs() + static_cast<std::int64_t>(answerMs) * 1'000'000;
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
        pollfd readable{fd, POLLIN, 0};
        const std::int64_t left = (deadline - monotonicNs()) / 1'000'000;
        char byte = 0;
        if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) != 1 || ::recv(fd, &byte, 1, 0) != 1
            || head.size() >= longest)
            return fail("network.unreachable", "the proxy of this machine does not answer");
        head += byte;
    }
    return head;
}

Status askForTunnel(int fd, const NetworkTarget& target, const UpstreamProxy& upstream)
{
    std::string request = "CONNECT " + target.text() + " HTTP/1.1\r\nHost: " + target.text() + "\r\n";
    if (!upstream.authorization.empty())
        request += "Proxy-Authorization: " + upstream.authorization + "\r\n";
    request += "\r\n";
    if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
        return fail("network.unreachable", "the proxy of this machine does not listen");
    const auto head = readHead(fd);
    if (!head)
        return fail(head.error());
    const auto space = head->find(' ');
    if (space == std::string::npos || head->compare(space + 1, 1, "2") != 0)
        return fail("network.unreachable",
            "the proxy of this machine answers: " + head->substr(0, head->find("\r\n")));
    return {};
}

Result<Dialled> dialUpstream(const NetworkTarget& target, const UpstreamProxy& upstream, NetworkUse use)
{
    // The person named it: wherever it is, it may be connected to.
    const auto addresses = resolveName(upstream.host);
    if (!addresses)
        return fail(addresses.error());
    auto fd = connectToAny(*addresses, {upstream.host, upstream.port});
    if (!fd)
        return fail(fd.error());
    if (use == NetworkUse::Tunnel)
        GB_TRY(askForTunnel(fd->get(), target, upstream));
    return Dialled{std::move(*fd), use == NetworkUse::PlainRequest};
}

} // namespace

Result<std::vector<NetworkAddress>> resolveName(const std::string& host)
{
    if (const auto address = NetworkAddress::parse(host))
        return std::vector<NetworkAddress>{*address};
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0)
        return fail("network.unreachable", host + " is not known: " + ::gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> held(found, ::freeaddrinfo);
    std::vector<NetworkAddress> addresses;
    for (const addrinfo* one = found; one; one = one->ai_next) {
        NetworkAddress address;
        address.family = one->ai_family;
        if (one->ai_family == AF_INET) {
            sockaddr_in in{};
            std::memcpy(&in, one->ai_addr, sizeof in);
            std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
        } else if (one->ai_family == AF_INET6) {
            sockaddr_in6 in{};
            std::memcpy(&in, one->ai_addr, sizeof in);
            std::memcpy(address.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
        } else {
            continue;
        }
        addresses.push_back(address);
    }
    return addresses;
}

Result<Dialled> dial(const NetworkTarget& target, const NetworkRule& rule, const NetworkRules& rules,
    NetworkUse use, const NetworkResolver& resolver)
{
    if (rules.goesUpstream(target.host))
        return dialUpstream(target, *rules.upstream, use);
    auto addresses = resolver(target.host);
    if (!addresses)
        return fail(addresses.error());
    std::vector<NetworkAddress> allowed;
    for (const NetworkAddress& address : *addresses) {
        if (rules.mayConnect(rule, address))
            allowed.push_back(address);
    }
    if (allowed.empty() && !addresses->empty())
        return fail("network.refused",
            target.host + " is at " + addresses->front().text() + ", which is not a public address");
    auto fd = connectToAny(allowed, target);
    if (!fd)
        return fail(fd.error());
    return Dialled{std::move(*fd), false};
}

} // namespace gb::rpc
