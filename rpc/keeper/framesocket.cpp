// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "framesocket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>

#include <rpc/protocol/descriptors.h>

namespace gb::rpc {
namespace {

constexpr std::size_t readStep = 64U << 10U;

} // namespace

std::shared_ptr<FrameSocket> FrameSocket::create(
    Loop& loop, UniqueFd fd, FrameLimits limits, Descriptors descriptors, Handlers handlers)
{
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    std::shared_ptr<FrameSocket> socket(
        new FrameSocket(loop, std::move(fd), limits, descriptors, std::move(handlers)));
    socket->m_watch =
        loop.watch(socket->m_fd.get(), EPOLLIN, [weak = std::weak_ptr(socket)](std::uint32_t events) {
            if (const auto self = weak.lock())
                self->ready(events);
        });
    return socket;
}

FrameSocket::FrameSocket(
    Loop& loop, UniqueFd fd, FrameLimits limits, Descriptors descriptors, Handlers handlers)
    : m_loop(loop), m_fd(std::move(fd)), m_limits(limits), m_descriptors(descriptors),
      m_handlers(std::move(handlers)), m_buffer(readStep)
{ }

FrameSocket::~FrameSocket()
{
    close();
}

void FrameSocket::close()
{
    if (!m_fd.valid())
        return;
    m_loop.unwatch(m_watch);
    m_fd.reset();
    m_queue.clear();
    m_received.clear();
    m_unsent = 0;
}

void FrameSocket::fail(const std::string& reason)
{
    if (!m_fd.valid())
        return;
    close();
    if (m_handlers.closed)
        m_handlers.closed(reason);
}

void FrameSocket::ready(std::uint32_t events)
{
    if ((events & EPOLLOUT) != 0U)
        flush();
    if (open() && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0U)
        readable();
}

long FrameSocket::receive(char* to, std::size_t size)
{
    const std::size_t most = m_descriptors == Descriptors::Accepted ? mostDescriptors : 0;
    return receiveBeside(m_fd.get(), {to, size}, m_received, most, 0);
}

void FrameSocket::readable()
{
    const bool direct = m_attachment && m_attachmentGot < m_attachmentSize;
    if (!direct && m_start > 0) {
        std::memmove(m_buffer.data(), m_buffer.data() + m_start, m_end - m_start);
        m_end -= m_start;
        m_start = 0;
    }
    if (!direct && m_end == m_buffer.size())
        m_buffer.resize(m_buffer.size() + readStep);

    const long got = direct
        ? receive(m_attachment.get() + m_attachmentGot, m_attachmentSize - m_attachmentGot)
        : receive(m_buffer.data() + m_end, m_buffer.size() - m_end);
    if (got == 0)
        return fail("the other side closed the link");
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? void() : fail(std::strerror(errno));
    (direct ? m_attachmentGot : m_end) += static_cast<std::size_t>(got);

    const auto keepAlive = shared_from_this();
    while (open() && parse()) { }
    // Descriptors belong to a frame; between frames nobody asked for any.
    if (open() && m_start == m_end && !m_attachment)
        m_received.clear();
    if (m_received.size() > 4 * mostDescriptors)
        fail("more descriptors than any frame announced");
}

bool FrameSocket::parse()
{
    if (!m_attachment && !beginFrame())
        return false;
    if (m_attachmentGot < m_attachmentSize)
        return false;
    SharedText attachment(m_attachment, {m_attachment.get(), m_attachmentSize});
    m_attachment.reset();
    std::string json = std::move(m_json);
    m_handlers.frame(json, std::move(attachment));
    return true;
}

bool FrameSocket::beginFrame()
{
    const std::size_t have = m_end - m_start;
    const char* at = m_buffer.data() + m_start;
    if (have < frameHeaderSize)
        return false;
    const FrameSizes sizes = decodeFrameHeader(at);
    const std::size_t jsonSize = sizes.json;
    const std::size_t attachmentSize = sizes.attachment;
    if (jsonSize == 0 || jsonSize > m_limits.json || attachmentSize > m_limits.attachment) {
        fail("a frame announces more than its link allows");
        return false;
    }
    if (have < frameHeaderSize + jsonSize)
        return false;
    m_json.assign(at + frameHeaderSize, jsonSize);
    m_attachmentSize = attachmentSize;
    // Untouched memory costs nothing, so a peer that announces much and sends little takes little.
    m_attachment = std::make_shared_for_overwrite<char[]>(std::max<std::size_t>(attachmentSize, 1));
    m_attachmentGot = std::min(attachmentSize, have - frameHeaderSize - jsonSize);
    std::memcpy(m_attachment.get(), at + frameHeaderSize + jsonSize, m_attachmentGot);
    m_start += frameHeaderSize + jsonSize + m_attachmentGot;
    return true;
}

std::vector<UniqueFd> FrameSocket::takeDescriptors(std::size_t count)
{
    std::vector<UniqueFd> taken;
    while (taken.size() < count && !m_received.empty()) {
        taken.push_back(std::move(m_received.front()));
        m_received.pop_front();
    }
    return taken;
}

void FrameSocket::send(std::string json, const SharedText& attachment)
{
    if (!open())
        return;
    std::string head = encodeFrameHeader(json.size(), attachment.size());
    head += json;
    m_unsent += head.size() + attachment.size();
    m_queue.push_back({std::move(head)});
    if (!attachment.empty())
        m_queue.push_back({attachment});
    if (!m_watchingWrites)
        flush();
}

void FrameSocket::sendWithDescriptor(std::string json, UniqueFd descriptor)
{
    if (!open())
        return;
    std::string frame = encodeFrameHeader(json.size(), 0) + json;
    m_unsent += frame.size();
    m_queue.push_back({std::move(frame), std::move(descriptor)});
    if (!m_watchingWrites)
        flush();
}

// One message: what waits, up to the next descriptor, which has to be in front.
long FrameSocket::sendSome()
{
    std::array<iovec, 16> parts{};
    std::size_t count = 0;
    for (; count < std::min(parts.size(), m_queue.size()); ++count) {
        const Outgoing& item = m_queue[count];
        if (count > 0 && item.descriptor.valid())
            break;
        parts[count] = {const_cast<char*>(item.bytes.view().data()), item.bytes.size()};
    }
    const long sent =
        sendBeside(m_fd.get(), {parts.data(), count}, m_queue.front().descriptor.get(), MSG_DONTWAIT);
    if (sent > 0)
        m_queue.front().descriptor.reset();
    return sent;
}

void FrameSocket::flush()
{
    while (!m_queue.empty()) {
        const long sent = sendSome();
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN) {
            // The reader notices the end and says so; a handler must not run inside send().
            m_queue.clear();
            m_unsent = 0;
            return;
        }
        if (sent < 0)
            break;
        auto left = static_cast<std::size_t>(sent);
        m_unsent -= left;
        while (left > 0 && left >= m_queue.front().bytes.size()) {
            left -= m_queue.front().bytes.size();
            m_queue.pop_front();
        }
        if (left > 0)
            m_queue.front().bytes = m_queue.front().bytes.part(left, m_queue.front().bytes.size());
    }
    const bool wait = !m_queue.empty();
    if (wait != m_watchingWrites)
        m_loop.change(m_watch, wait ? EPOLLIN | EPOLLOUT : EPOLLIN);
    const bool drained = m_watchingWrites && !wait;
    m_watchingWrites = wait;
    if (drained && m_handlers.drained)
        m_handlers.drained();
}

} // namespace gb::rpc
