// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "link.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/socket.h>

#include <rpc/protocol/descriptors.h>

namespace gb::init {
namespace {

constexpr std::size_t congestedAt = 1U << 20U;

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
        iovec rest{item.bytes.data() + item.sent, item.bytes.size() - item.sent};
        const int descriptor = item.sent == 0 ? item.fd.get() : -1;
        const ssize_t sent = rpc::sendBeside(m_fd.get(), {&rest, 1}, descriptor, MSG_DONTWAIT);
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
    const ssize_t got = rpc::receiveBeside(m_fd.get(), buffer, m_arrived, mostFds, MSG_DONTWAIT);
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
