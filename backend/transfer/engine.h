// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include "request.h"

namespace gb::transfer {

// Where the body of a successful answer goes. Called on the engine's thread.
class Sink
{
public:
    virtual ~Sink() = default;
    virtual Status write(std::string_view bytes) = 0;
};

// Accepts or refuses an answer before its first byte reaches the sink.
class Check
{
public:
    virtual ~Check() = default;
    virtual Status head(const Response& response) = 0;
};

// Request, sink and checks are composed; nothing derives from a transfer.
struct Transfer
{
    Request request;
    std::shared_ptr<Sink> sink; // without one the body is kept in the response
    std::vector<std::shared_ptr<Check>> checks; // asked about successful answers only
    // Once, on the engine's thread. An answer of any status is a value; an error means there was none, or a
    // check or the sink refused it.
    std::function<void(Result<Response>)> done;
};

struct NetworkOptions
{
    std::string httpProxy; // for http:// addresses
    std::string httpsProxy; // for https:// addresses
    std::string noProxy;
    std::string caFile; // empty: the system's
    std::string userAgent;
    int connectTimeoutMs = 15'000;

    // http_proxy, https_proxy, all_proxy, no_proxy (either case), and the variables that name a bundle of
    // certificates. The look-up is a parameter because a daemon does not use its own environment.
    static NetworkOptions fromEnvironment(const std::function<std::string(const char*)>& variable);
};

// libcurl's multi interface on a thread of its own.
class Engine
{
public:
    using Id = std::uint64_t;

    explicit Engine(NetworkOptions options);
    ~Engine(); // stops it
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Ends the thread; what still runs ends as "cancelled", what is posted later never happens. Whoever owns
    // other threads that post here stops the engine first, then those.
    void stop();

    // These may be called on any thread.
    Id start(Transfer transfer);
    void cancel(Id id); // done follows, as "cancelled", unless it ended first
    void post(std::function<void()> task); // on the engine's thread
    void after(int milliseconds, std::function<void()> task);
    void setRate(std::int64_t bytesPerSecond); // of all transfers with a sink together; 0: no limit
    std::int64_t receivedBytes() const; // by sinks, ever

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace gb::transfer
