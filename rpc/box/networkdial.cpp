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

std::int64_t answerDeadline()
{
    return monotonicNs() + static_cast<std::int64_t>(answerMs) * 1'000'000;
}

Status readByte(int fd, std::int64_t deadline, std::string& bytes)
{
    pollfd readable{fd, POLLIN, 0};
    const std::int64_t left = (deadline - monotonicNs()) / 1'000'000;
    char byte = 0;
    if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) != 1 || ::recv(fd, &byte, 1, 0) != 1)
        return fail("network.unreachable", "the proxy of this machine does not answer");
    bytes += byte;
    return {};
}

// The head of an answer, byte by byte, because what follows belongs to the tunnel.
Result<std::string> readHead(int fd)
{
    constexpr std::size_t longest = 16U << 10U;
    const std::int64_t deadline = answerDeadline();
    std::string head;
    while (!head.ends_with("\r\n\r\n"))
        GB_TRY(readByte(fd, head.size() < longest ? deadline : 0, head));
    return head;
}

Status askForTunnel(int fd, const NetworkTarget& target, const UpstreamProxy& upstream)
{
    std::string request = "CONNECT " + target.text() + " HTTP/1.1\r\nHost: " + target.text() + "\r\n";
    if (!upstream.credentials.empty())
        request += "Proxy-Authorization: " + upstream.authorization() + "\r\n";
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

Status sendAll(int fd, std::string_view bytes)
{
    if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()))
        return {};
    return fail("network.unreachable", "the proxy of this machine does not listen");
}

Result<std::string> readBytes(int fd, std::size_t count)
{
    const std::int64_t deadline = answerDeadline();
    std::string bytes;
    while (bytes.size() < count)
        GB_TRY(readByte(fd, deadline, bytes));
    return bytes;
}

std::string counted(const std::string& text)
{
    return std::string(1, static_cast<char>(text.size())) + text;
}

// What the numbers of RFC 1928 and 1929 mean.
namespace socks {
constexpr char version = 5;
constexpr char passwordVersion = 1;
constexpr char noPassword = 0;
constexpr char withPassword = 2;
constexpr char connect = 1;
constexpr char byName = 3;
constexpr char isV4 = 1;
constexpr char isV6 = 4;
constexpr std::size_t longestText = 255;
} // namespace socks

Status authorizeAtSocks(int fd, const UpstreamProxy& upstream)
{
    const bool hasPassword = !upstream.credentials.empty();
    const char wanted = hasPassword ? socks::withPassword : socks::noPassword;
    GB_TRY(sendAll(fd, std::string{socks::version, 1, wanted}));
    const auto method = readBytes(fd, 2);
    if (!method)
        return fail(method.error());
    if (*method != std::string{socks::version, wanted})
        return fail("network.unreachable", "the proxy of this machine wants another way to log in");
    if (!hasPassword)
        return {};
    const auto colon = upstream.credentials.find(':');
    const std::string user = upstream.credentials.substr(0, colon);
    const std::string password = colon == std::string::npos ? "" : upstream.credentials.substr(colon + 1);
    if (user.size() > socks::longestText || password.size() > socks::longestText)
        return fail("network.unreachable", "the name or password of this machine's proxy is too long");
    GB_TRY(sendAll(fd, std::string(1, socks::passwordVersion) + counted(user) + counted(password)));
    const auto answer = readBytes(fd, 2);
    if (!answer)
        return fail(answer.error());
    return answer->at(1) == 0 ? Status()
                              : fail("network.unreachable", "the proxy of this machine refuses its password");
}

// By name, so that the proxy resolves it.
Status askForSocksTunnel(int fd, const NetworkTarget& target, const UpstreamProxy& upstream)
{
    constexpr int byteBits = 8;
    constexpr int lowByte = 0xff;
    GB_TRY(authorizeAtSocks(fd, upstream));
    std::string request{socks::version, socks::connect, 0, socks::byName};
    request += counted(target.host);
    request += static_cast<char>(target.port >> byteBits);
    request += static_cast<char>(target.port & lowByte);
    GB_TRY(sendAll(fd, request));
    const auto head = readBytes(fd, 5);
    if (!head)
        return fail(head.error());
    if (head->at(1) != 0)
        return fail("network.unreachable",
            "the proxy of this machine does not reach " + target.text() + " (SOCKS "
                + std::to_string(static_cast<int>(head->at(1))) + ")");
    // The address it uses itself, of whichever kind, and a port; one byte of it is read.
    constexpr std::size_t v4Bytes = 4;
    constexpr std::size_t v6Bytes = 16;
    const char kind = head->at(3);
    const std::size_t address = kind == socks::isV4 ? v4Bytes
        : kind == socks::isV6                       ? v6Bytes
                                                    : 1 + static_cast<unsigned char>(head->at(4));
    const auto rest = readBytes(fd, address + 2 - 1);
    return rest ? Status() : fail(rest.error());
}

Result<Dialled> dialUpstream(const NetworkTarget& target, const UpstreamProxy& upstream, NetworkUse use)
{
    if (!upstream.refusal.empty())
        return fail("network.unreachable", upstream.refusal);
    // The person named it: wherever it is, it may be connected to.
    const auto addresses = resolveName(upstream.host);
    if (!addresses)
        return fail(addresses.error());
    auto fd = connectToAny(*addresses, {upstream.host, upstream.port});
    if (!fd)
        return fail(fd.error());
    if (upstream.kind == UpstreamProxy::Kind::Socks5) {
        GB_TRY(askForSocksTunnel(fd->get(), target, upstream));
        return Dialled{std::move(*fd), false};
    }
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
