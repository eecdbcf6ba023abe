// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "http_connection.h"

#include <array>
#include <cerrno>
#include <cstdio>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <backend/base/clock.h>
#include <backend/base/json.h>
#include <rpc/keeper/json_check.h>

namespace gb::rpc {
namespace {

constexpr std::uint32_t readEvents = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr std::size_t mostUnsent = 64U << 20U; // of a stream whose client does not read

const char* reasonOf(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 202:
        return "Accepted";
    case 304:
        return "Not Modified";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 409:
        return "Conflict";
    case 410:
        return "Gone";
    case 413:
        return "Payload Too Large";
    case 415:
        return "Unsupported Media Type";
    case 429:
        return "Too Many Requests";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    default:
        return status < 500 ? "Error" : "Internal Server Error";
    }
}

std::string headText(int status, std::string_view type, bool keepAlive, std::string_view extra)
{
    std::string head;
    head.reserve(256);
    head.append("HTTP/1.1 ").append(std::to_string(status)).append(" ").append(reasonOf(status));
    head += "\r\n";
    if (!type.empty())
        head.append("Content-Type: ").append(type).append("\r\n");
    head += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
    if (!keepAlive)
        head += "Connection: close\r\n";
    return head.append(extra);
}

} // namespace

HttpConnection::HttpConnection(HttpServer& server, UniqueFd fd, bool local)
    : m_server(server), m_fd(std::move(fd)), m_local(local),
      m_reader(server.m_keeper.config().limits.headerBytes, server.m_keeper.config().limits.bodyBytes)
{ }

HttpConnection::~HttpConnection() = default;

void HttpConnection::open()
{
    if (!m_local) {
        const int on = 1;
        ::setsockopt(m_fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    setDeadline(m_server.m_keeper.config().limits.headerMs);
    m_watch = m_server.m_keeper.loop().watch(
        m_fd.get(), readEvents, [this](std::uint32_t events) { ready(events); });
}

void HttpConnection::close()
{
    if (!m_fd.valid())
        return;
    const auto keepAlive = shared_from_this();
    m_server.m_keeper.loop().unwatch(m_watch);
    m_fd.reset();
    m_output.clear();
    if (m_exchange && m_exchange->m_gone) {
        const auto gone = std::exchange(m_exchange->m_gone, nullptr);
        gone();
    }
    m_exchange.reset();
    m_server.drop(this);
}

void HttpConnection::setDeadline(int milliseconds)
{
    m_deadline = milliseconds == 0 ? 0 : monotonicNs() + std::int64_t{milliseconds} * 1'000'000;
}

void HttpConnection::checkDeadline(std::int64_t nowNs)
{
    if (m_deadline == 0 || nowNs < m_deadline)
        return;
    if (m_phase == Phase::Body || (m_phase == Phase::Head && m_input.size() > m_inputStart))
        return refuse({408, "slow", "the request did not arrive in time"});
    close();
}

void HttpConnection::ready(std::uint32_t events)
{
    const auto keepAlive = shared_from_this();
    if ((events & (EPOLLERR | EPOLLHUP)) != 0U)
        return close();
    if ((events & EPOLLOUT) != 0U && flush())
        allSent();
    m_peerEnded = m_peerEnded || (events & EPOLLRDHUP) != 0U;
    if ((events & (EPOLLIN | EPOLLRDHUP)) != 0U) {
        m_mayHaveMore = true;
        if (m_fd.valid())
            readable();
    }
    // Whoever no longer listens does not wait for an answer either.
    if (m_fd.valid() && (events & EPOLLRDHUP) != 0U && m_phase == Phase::Answering)
        close();
}

void HttpConnection::readable()
{
    if (m_consuming)
        return;
    m_consuming = true;
    constexpr std::size_t step = 64U << 10U;
    while (m_fd.valid() && reading()) {
        if (m_input.size() > m_inputStart && m_phase != Phase::Draining) {
            const std::size_t before = m_inputStart;
            consume();
            if (!m_fd.valid() || !reading() || m_inputStart != before)
                continue;
        }
        if (!m_mayHaveMore)
            break;
        m_input.erase(0, std::min(m_inputStart, m_input.size()));
        m_inputStart = 0;
        // One for all connections, which share a thread: growing the input first would mean clearing it each
        // time.
        static std::array<char, step> block;
        const long got = ::recv(m_fd.get(), block.data(), step, 0);
        if (got > 0) {
            m_input.append(block.data(), static_cast<std::size_t>(got));
            // Less than there was room for is all there was, and we are told of what comes after it; but not
            // again of an end that we were told of with it.
            m_mayHaveMore = got == static_cast<long>(step) || m_peerEnded;
        }
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            close();
            break;
        }
        if (got < 0)
            m_mayHaveMore = errno == EINTR;
        if (m_phase == Phase::Draining && got > 0) {
            constexpr std::size_t patience = 4U << 20U;
            m_drained += static_cast<std::size_t>(got);
            m_input.clear();
            if (m_drained > patience)
                close();
        }
    }
    m_consuming = false;
}

void HttpConnection::consume()
{
    if (m_phase == Phase::Head && !m_headStarted) {
        m_headStarted = true;
        setDeadline(m_server.m_keeper.config().limits.headerMs);
    }
    std::string_view bytes = std::string_view(m_input).substr(m_inputStart);
    const RequestReader::Step step = m_reader.read(bytes);
    m_inputStart = m_input.size() - bytes.size();
    switch (step) {
    case RequestReader::Step::NeedMore:
        // One header timeout for the whole head, however slowly its bytes drip in.
        return;
    case RequestReader::Step::Bad:
        return refuse(m_reader.refusal());
    case RequestReader::Step::HeadReady:
        return headArrived();
    case RequestReader::Step::Complete:
        return serve();
    }
}

void HttpConnection::headArrived()
{
    RequestHead head = m_reader.head();
    head.local = m_local;
    m_keepAlive = m_reader.keepAlive();
    auto token = m_server.m_rules.admit(head);
    if (!token)
        return refuse(token.error());
    if (m_reader.expectsContinue()) {
        enqueue(std::string("HTTP/1.1 100 Continue\r\n\r\n"));
        flush();
    }
    const bool hasBody = head.hasBody;
    m_exchange = std::make_shared<HttpExchange>(weak_from_this(), std::move(head), std::move(*token));
    m_phase = Phase::Body;
    setDeadline(m_server.m_keeper.config().limits.bodyMs);
    if (!hasBody) {
        std::string_view none;
        if (m_reader.read(none) == RequestReader::Step::Complete)
            serve();
    }
}

void HttpConnection::serve()
{
    m_exchange->m_body = m_reader.takeBody();
    m_phase = Phase::Answering;
    setDeadline(0);
    const HttpExchangePtr exchange = m_exchange;
    m_server.m_handler(exchange);
}

// The rest of the request is not wanted: say so, then take what is under way for a moment, because closing
// with unread bytes would reset the connection before the client has read why.
void HttpConnection::refuse(const Refusal& refusal)
{
    m_exchange.reset();
    m_keepAlive = false;
    const std::string body = "{\"ok\":false,\"error\":{\"kind\":" + jsonString(refusal.kind)
        + ",\"message\":" + jsonString(refusal.message) + "}}";
    enqueue(headText(refusal.status, "application/json", false,
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n")
        + body);
    m_phase = Phase::Draining;
    m_inputStart = m_input.size();
    setDeadline(1000);
    if (flush())
        allSent();
}

void HttpConnection::send(const HttpExchange& exchange, int status, std::string_view type,
    const std::array<SharedText, 3>& body, std::string_view extra)
{
    if (!isCurrent(exchange) || m_phase != Phase::Answering)
        return;
    std::string head = headText(status, type, m_keepAlive, extra);
    const std::size_t size = body[0].size() + body[1].size() + body[2].size();
    if (status != 304)
        head.append("Content-Length: ").append(std::to_string(size)).append("\r\n");
    head += "\r\n";
    constexpr std::size_t joinUpTo = 4096;
    for (const SharedText& part : body) {
        if (part.size() <= joinUpTo) {
            head += part.view();
            continue;
        }
        enqueue(std::exchange(head, {}));
        enqueue(part);
    }
    if (!head.empty())
        enqueue(std::move(head));
    answered();
}

void HttpConnection::beginStream(const HttpExchange& exchange, std::string_view type)
{
    if (!isCurrent(exchange) || m_phase != Phase::Answering)
        return;
    enqueue(headText(200, type, m_keepAlive, "X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n"));
    flush();
}

void HttpConnection::streamText(const HttpExchange& exchange, std::string_view text)
{
    if (!isCurrent(exchange) || text.empty())
        return;
    std::array<char, 20> length{};
    const int digits = std::snprintf(length.data(), length.size(), "%zx\r\n", text.size());
    std::string chunk(length.data(), static_cast<std::size_t>(digits));
    chunk.append(text).append("\r\n");
    enqueue(std::move(chunk));
    flush();
    if (m_unsent > mostUnsent)
        close();
}

void HttpConnection::endStream(const HttpExchange& exchange)
{
    if (!isCurrent(exchange))
        return;
    enqueue(std::string("0\r\n\r\n"));
    answered();
}

void HttpConnection::answered()
{
    m_exchange->m_gone = nullptr;
    m_exchange.reset();
    m_phase = Phase::Sending;
    if (flush())
        allSent();
    else
        setDeadline(m_server.m_keeper.config().limits.idleMs);
}

void HttpConnection::allSent()
{
    if (!m_fd.valid())
        return;
    if (m_phase == Phase::Draining)
        ::shutdown(m_fd.get(), SHUT_WR);
    if (m_phase != Phase::Sending)
        return;
    if (!m_keepAlive)
        return close();
    m_reader.reset();
    m_phase = Phase::Head;
    m_headStarted = false;
    setDeadline(m_server.m_keeper.config().limits.idleMs);
    // A pipelined request may wait already; inside readable() its own loop takes it.
    readable();
}

void HttpConnection::enqueue(SharedText text)
{
    m_unsent += text.size();
    m_output.push_back(std::move(text));
}

// True when nothing is left to send.
bool HttpConnection::flush()
{
    while (m_fd.valid() && !m_output.empty()) {
        std::array<iovec, 8> parts{};
        const std::size_t count = std::min(parts.size(), m_output.size());
        for (std::size_t i = 0; i < count; ++i)
            parts[i] = {const_cast<char*>(m_output[i].view().data()), m_output[i].size()};
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = count;
        const long sent = ::sendmsg(m_fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            if (errno != EAGAIN)
                m_output.clear(); // the end of the connection is about to be reported
            break;
        }
        auto left = static_cast<std::size_t>(sent);
        m_unsent -= left;
        while (left > 0 && left >= m_output.front().size()) {
            left -= m_output.front().size();
            m_output.pop_front();
        }
        if (left > 0)
            m_output.front() = m_output.front().part(left, m_output.front().size());
    }
    const bool wait = m_fd.valid() && !m_output.empty();
    if (wait != m_watchingWrites && m_fd.valid())
        m_server.m_keeper.loop().change(m_watch, wait ? readEvents | EPOLLOUT : readEvents);
    m_watchingWrites = wait;
    return !wait;
}

} // namespace gb::rpc
