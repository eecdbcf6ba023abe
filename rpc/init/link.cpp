// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "link.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>

namespace gb::init {
namespace {

constexpr std::size_t congestedAt = 1U << 20U;

ssize_t sendOnce(int socket, std::string_view bytes, int fd)
{
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (fd >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace

Link::Link(int fd) : m_fd(fd)
{
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

bool Link::congested() const
{
    return m_queued >= congestedAt;
}

bool Link::flush()
{
    while (!m_queue.empty()) {
        Item& item = m_queue.front();
        const ssize_t sent = sendOnce(
            m_fd.get(), std::string_view(item.bytes).substr(item.sent), item.sent == 0 ? item.fd.get() : -1);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        item.sent += static_cast<std::size_t>(sent);
        m_queued -= static_cast<std::size_t>(sent);
        if (item.sent < item.bytes.size())
            return true;
        m_queue.pop_front();
    }
    return true;
}

bool Link::receive()
{
    static std::array<char, 1U << 19U> buffer; // this process has one thread
    constexpr std::size_t mostFds = 4;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(mostFds * sizeof(int))> control{};
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(m_fd.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    for (cmsghdr* header = got < 0 ? nullptr : CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
            m_arrived.emplace_back(fd);
        }
    }
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    m_reader.feed({buffer.data(), static_cast<std::size_t>(got)});
    return true;
}

UniqueFd Link::takeFd()
{
    if (m_arrived.empty())
        return {};
    UniqueFd first = std::move(m_arrived.front());
    m_arrived.pop_front();
    return first;
}

void Link::dropFds()
{
    if (m_reader.buffered() == 0)
        m_arrived.clear();
}

void Link::send(const Json& message, std::string_view attachment)
{
    const std::string json = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    m_queue.push_back({rpc::encodeFrame(json, attachment), 0, {}});
    m_queued += m_queue.back().bytes.size();
}

void Link::sendWithFd(const Json& message, UniqueFd fd)
{
    send(message);
    m_queue.back().fd = std::move(fd);
}

void Link::answerError(std::int64_t channel, const Error& error)
{
    send(Json{{"t", "error"}, {"ch", channel}, {"error", error.toJson()}});
}

} // namespace gb::init
