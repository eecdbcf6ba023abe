// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <string>
#include <unordered_map>

#include <QObject>
#include <QSocketNotifier>

#include <backend/base/fd.h>
#include <rpc/protocol/frame.h>
#include <rpc/protocol/message.h>

#include "answer.h"

namespace gb::api {

// A request or notification as it came, with its whole attachment (chunks already put together).
struct Incoming
{
    rpc::Message message;
    std::string attachment;
};

// JSON-RPC in frames on one connected stream socket, in both directions: clients, the daemon and the daemon's
// links to keepers all use it. It sends at once what the socket takes and keeps the rest, so who sends much
// must look at unsent(). It lives on one thread. closed() comes at most once; delete the channel with
// deleteLater() when inside one of its signals.
class Channel : public QObject
{
    Q_OBJECT

public:
    explicit Channel(UniqueFd socket, QObject* parent = nullptr);
    ~Channel() override;

    // The handler is called once: with the answer, the peer's error, or "rpc.closed".
    std::int64_t request(
        std::string_view method, const Json& params, AnswerHandler handler, std::string_view attachment = {});
    // The handler of a request is not called any more.
    void forget(std::int64_t request);
    void notify(std::string_view method, const Json& params, std::string_view attachment = {});
    void answer(std::int64_t id, const Json& result, std::string_view attachment = {});
    void refuse(std::optional<std::int64_t> id, const Error& error);
    // A notification whose JSON text the caller has put together itself.
    void sendText(std::string_view json, std::string_view attachment = {});

    // Is offered every frame before it is read as JSON; true: taken. For what must stay the text it is.
    void setFrameHandler(std::function<bool(const rpc::Frame& frame)> handler);

    bool isOpen() const { return m_socket.valid(); }
    int descriptor() const { return m_socket.get(); }
    std::size_t unsent() const { return m_unsent; }
    void setReading(bool on);
    void close(Error reason);

Q_SIGNALS:
    void requested(gb::api::Incoming& request); // the one who takes it may move from it
    void notified(const gb::api::Incoming& notification);
    void wrote(); // unsent() went down
    void closed(const gb::Error& reason);

private:
    struct Partial
    {
        Incoming incoming;
        std::int64_t next = 0;
    };

    void read();
    bool takeFrames();
    Status take(rpc::Frame frame);
    Status takeChunk(const rpc::Message& message, std::string piece);
    void deliver(Incoming incoming);
    void finishRequest(std::int64_t id, Result<Answer> result);
    void sendWithAttachment(std::int64_t id, const std::function<std::string(std::int64_t chunks)>& encode,
        std::string_view attachment);
    void flush();

    UniqueFd m_socket;
    QSocketNotifier m_readable;
    QSocketNotifier m_writable;
    rpc::FrameReader m_reader;
    std::deque<std::string> m_out;
    std::size_t m_outOffset = 0;
    std::size_t m_unsent = 0;
    std::int64_t m_nextId = 1;
    std::unordered_map<std::int64_t, AnswerHandler> m_waiting;
    std::unordered_map<std::int64_t, Partial> m_partial; // answers by id, requests by -1 - id
    std::size_t m_partialBytes = 0;
    std::function<bool(const rpc::Frame&)> m_frameHandler;
};

} // namespace gb::api
