// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>

#include "http_server.h"

namespace gb::rpc {

// Request heads and bodies, cut out of the bytes of a connection. The only user of Boost.Beast.
class RequestReader
{
public:
    enum class Step { NeedMore, HeadReady, Complete, Bad };

    RequestReader(std::size_t headerLimit, std::size_t bodyLimit);
    ~RequestReader();

    void reset(); // for the next request of the connection
    // Consumes from the front of bytes. HeadReady is told once, before anything of the body is taken.
    Step read(std::string_view& bytes);
    RequestHead head() const;
    bool keepAlive() const;
    bool expectsContinue() const;
    std::string takeBody();
    Refusal refusal() const { return m_refusal; } // when Bad

private:
    struct Private;
    std::unique_ptr<Private> d;
    std::size_t m_headerLimit;
    std::size_t m_bodyLimit;
    Refusal m_refusal;
};

// One client. Requests are served one after another; while one is being answered only the end of the
// connection is noticed.
class HttpConnection : public std::enable_shared_from_this<HttpConnection>
{
public:
    HttpConnection(HttpServer& server, UniqueFd fd, bool local);
    ~HttpConnection();

    void open();
    void close();
    void checkDeadline(std::int64_t nowNs);

    // for HttpExchange
    void send(const HttpExchange& exchange, int status, std::string_view type,
        const std::array<SharedText, 3>& body, std::string_view extra);
    void beginStream(const HttpExchange& exchange, std::string_view type);
    void streamText(const HttpExchange& exchange, std::string_view text);
    void endStream(const HttpExchange& exchange);

private:
    // Answering: the handler has the request. Sending: its answer is complete but not yet sent.
    enum class Phase { Head, Body, Answering, Sending, Draining };

    void ready(std::uint32_t events);
    void readable();
    void consume();
    void headArrived();
    void serve();
    void refuse(const Refusal& refusal);
    void answered();
    void enqueue(SharedText text);
    bool flush();
    void allSent();
    bool reading() const { return m_phase != Phase::Answering && m_phase != Phase::Sending; }
    void setDeadline(int milliseconds);
    bool isCurrent(const HttpExchange& exchange) const { return m_exchange.get() == &exchange; }

    HttpServer& m_server;
    UniqueFd m_fd;
    bool m_local;
    std::uint64_t m_watch = 0;
    Phase m_phase = Phase::Head;
    RequestReader m_reader;
    std::string m_input; // bytes read and not yet consumed: from m_inputStart
    std::size_t m_inputStart = 0;
    bool m_mayHaveMore = true; // edge-triggered: the socket may hold bytes we were not told of again
    HttpExchangePtr m_exchange;
    bool m_peerEnded = false; // nothing comes after what is there
    bool m_keepAlive = true;
    bool m_headStarted = false;
    bool m_consuming = false;
    std::deque<SharedText> m_output;
    std::size_t m_unsent = 0;
    bool m_watchingWrites = false;
    std::int64_t m_deadline = 0;
    std::size_t m_drained = 0;
};

} // namespace gb::rpc
