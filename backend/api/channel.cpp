// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>

#include <QPointer>

namespace gb::api {
namespace {

constexpr std::size_t attachmentLimit = rpc::FrameLimits{}.attachment;
constexpr std::size_t jsonLimit = rpc::FrameLimits{}.json;
// What one peer may have us put together from chunks at a time.
constexpr std::size_t partialLimit = 256U << 20U;
// One peer may not keep the others waiting: the rest is read when the event loop comes round again.
constexpr std::size_t readPerTurn = 1U << 20U;

} // namespace

Channel::Channel(UniqueFd socket, QObject* parent)
    : QObject(parent), m_socket(std::move(socket)), m_readable(QSocketNotifier::Read),
      m_writable(QSocketNotifier::Write)
{
    m_readable.setSocket(m_socket.get());
    m_writable.setSocket(m_socket.get());
    connect(&m_readable, &QSocketNotifier::activated, this, &Channel::read);
    connect(&m_writable, &QSocketNotifier::activated, this, &Channel::flush);
    m_readable.setEnabled(true);
}

Channel::~Channel()
{
    // Handlers may hold what their owners still need to see failed; but nobody is to be called from here.
    m_readable.setEnabled(false);
    m_writable.setEnabled(false);
}

std::int64_t Channel::request(
    std::string_view method, const Json& params, AnswerHandler handler, std::string_view attachment)
{
    const std::int64_t id = m_nextId++;
    m_waiting.emplace(id, std::move(handler));
    sendWithAttachment(
        id, [&](std::int64_t chunks) { return rpc::encodeRequest(id, method, params, chunks); }, attachment);
    return id;
}

void Channel::forget(std::int64_t request)
{
    m_waiting.erase(request);
}

void Channel::notify(std::string_view method, const Json& params, std::string_view attachment)
{
    sendText(rpc::encodeNotification(method, params), attachment);
}

void Channel::answer(std::int64_t id, const Json& result, std::string_view attachment)
{
    sendWithAttachment(
        id, [&](std::int64_t chunks) { return rpc::encodeAnswer(id, result, chunks); }, attachment);
}

void Channel::refuse(std::optional<std::int64_t> id, const Error& error)
{
    sendText(rpc::encodeFailure(id, error));
}

void Channel::sendWithAttachment(
    std::int64_t id, const std::function<std::string(std::int64_t)>& encode, std::string_view attachment)
{
    if (attachment.size() <= attachmentLimit)
        return sendText(encode(0), attachment);
    const auto chunks = (attachment.size() + attachmentLimit - 1) / attachmentLimit;
    sendText(encode(static_cast<std::int64_t>(chunks)));
    for (std::size_t i = 0; i < chunks; ++i)
        sendText(rpc::encodeChunk(id, static_cast<std::int64_t>(i)),
            attachment.substr(i * attachmentLimit, attachmentLimit));
}

void Channel::sendText(std::string_view json, std::string_view attachment)
{
    if (!isOpen())
        return;
    if (json.size() > jsonLimit)
        return close(Error{"rpc.too_large",
            "a message of " + std::to_string(json.size()) + " bytes does not fit into a frame"});
    m_out.push_back(rpc::encodeFrame(json, attachment));
    m_unsent += m_out.back().size();
    if (!m_writable.isEnabled())
        flush();
}

void Channel::flush()
{
    bool progress = false;
    while (!m_out.empty()) {
        const std::string& front = m_out.front();
        const ssize_t n = ::send(m_socket.get(), front.data() + m_outOffset, front.size() - m_outOffset,
            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n < 0) {
            // What the peer sent before it went away is still to be read; reading then finds the end.
            m_out.clear();
            m_outOffset = m_unsent = 0;
            break;
        }
        progress = true;
        m_outOffset += static_cast<std::size_t>(n);
        m_unsent -= static_cast<std::size_t>(n);
        if (m_outOffset == front.size()) {
            m_out.pop_front();
            m_outOffset = 0;
        }
    }
    const bool wasWaiting = m_writable.isEnabled();
    m_writable.setEnabled(!m_out.empty());
    if (progress && wasWaiting)
        Q_EMIT wrote();
}

void Channel::setReading(bool on)
{
    if (isOpen())
        m_readable.setEnabled(on);
}

void Channel::setFrameHandler(std::function<bool(const rpc::Frame&)> handler)
{
    m_frameHandler = std::move(handler);
}

void Channel::read()
{
    static thread_local std::array<char, 65536> buffer;
    const QPointer<Channel> alive(this);
    for (std::size_t total = 0; total < readPerTurn;) {
        const ssize_t n = ::recv(m_socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0)
            return close(Error{"rpc.closed", "the other side closed the connection"});
        total += static_cast<std::size_t>(n);
        m_reader.feed({buffer.data(), static_cast<std::size_t>(n)});
        if (!takeFrames() || !alive || !m_readable.isEnabled())
            return;
        if (static_cast<std::size_t>(n) < buffer.size())
            return;
    }
}

bool Channel::takeFrames()
{
    const QPointer<Channel> alive(this);
    for (;;) {
        auto frame = m_reader.next();
        if (frame && !*frame)
            return true;
        const Status taken = frame ? take(std::move(**frame)) : Status(fail(frame.error()));
        if (!alive || !isOpen())
            return false;
        if (!taken) {
            close(taken.error());
            return false;
        }
    }
}

Status Channel::take(rpc::Frame frame)
{
    if (m_frameHandler && m_frameHandler(frame))
        return {};
    auto message = rpc::decodeMessage(frame.json);
    if (!message) {
        // Said before the connection goes, so that whoever writes a client sees what was wrong.
        refuse(std::nullopt, message.error());
        return fail(message.error());
    }
    if (message->method == "chunk" && message->kind == rpc::Message::Kind::Notification)
        return takeChunk(*message, std::move(frame.attachment));
    Incoming incoming{std::move(*message), std::move(frame.attachment)};
    if (incoming.message.chunks == 0) {
        deliver(std::move(incoming));
        return {};
    }
    incoming.message.body.erase("chunks");
    const bool isRequest = incoming.message.kind == rpc::Message::Kind::Request;
    const std::int64_t key = isRequest ? -1 - incoming.message.id : incoming.message.id;
    if (m_partial.size() >= 64 || !m_partial.emplace(key, Partial{std::move(incoming), 0}).second)
        return fail("rpc.invalid", "too many chunked messages at a time");
    return {};
}

Status Channel::takeChunk(const rpc::Message& message, std::string piece)
{
    const std::int64_t of = integerOr(message.body, "of");
    // Each side numbers its own requests, so an id may mean a request of theirs or an answer to ours.
    auto it = m_partial.find(of);
    if (it == m_partial.end())
        it = m_partial.find(-1 - of);
    if (it == m_partial.end() || integerOr(message.body, "n", -1) != it->second.next)
        return fail("rpc.invalid", "a chunk of nothing, or out of order");
    m_partialBytes += piece.size();
    if (m_partialBytes > partialLimit)
        return fail("rpc.too_large", "more than 256 MiB in chunks");
    Partial& partial = it->second;
    partial.incoming.attachment += piece;
    if (++partial.next < partial.incoming.message.chunks)
        return {};
    Incoming whole = std::move(partial.incoming);
    m_partialBytes -= whole.attachment.size();
    m_partial.erase(it);
    deliver(std::move(whole));
    return {};
}

void Channel::deliver(Incoming incoming)
{
    switch (incoming.message.kind) {
    case rpc::Message::Kind::Request:
        Q_EMIT requested(incoming);
        break;
    case rpc::Message::Kind::Notification:
        Q_EMIT notified(incoming);
        break;
    case rpc::Message::Kind::Answer:
        finishRequest(
            incoming.message.id, Answer{std::move(incoming.message.body), std::move(incoming.attachment)});
        break;
    case rpc::Message::Kind::Failure:
        finishRequest(incoming.message.id, fail(std::move(incoming.message.error)));
        break;
    }
}

void Channel::finishRequest(std::int64_t id, Result<Answer> result)
{
    const auto it = m_waiting.find(id);
    if (it == m_waiting.end())
        return;
    const AnswerHandler handler = std::move(it->second);
    m_waiting.erase(it);
    if (handler)
        handler(std::move(result));
}

void Channel::close(Error reason)
{
    if (!isOpen())
        return;
    m_readable.setEnabled(false);
    m_writable.setEnabled(false);
    m_socket.reset();
    m_out.clear();
    m_unsent = 0;
    const QPointer<Channel> alive(this);
    auto waiting = std::move(m_waiting);
    m_waiting.clear();
    for (auto& [id, handler] : waiting) {
        if (handler)
            handler(fail("rpc.closed", reason.message, Json{{"reason", reason.code}}));
    }
    if (alive)
        Q_EMIT closed(reason);
}

} // namespace gb::api
