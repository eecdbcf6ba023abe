// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <curl/curl.h>

#include "engine.h"

namespace gb::transfer {

// A bucket of bytes that fills with time. Engine thread only.
class RateLimit
{
public:
    void setRate(std::int64_t bytesPerSecond);
    bool isLimited() const { return m_rate > 0; }
    bool mayTake(); // something is left
    void take(std::size_t bytes) { m_level -= static_cast<double>(bytes); }

private:
    std::int64_t m_rate = 0;
    double m_level = 0;
    std::int64_t m_filledAtNs = 0;
};

// One transfer with all its hops: an easy handle and its callbacks. Engine thread only.
class Exchange
{
public:
    Exchange(Engine::Id id, Transfer transfer, const NetworkOptions& options, RateLimit& limit);
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    Engine::Id id() const { return m_id; }
    CURL* handle() const { return m_easy; }
    Status prepare(); // sets the handle up for the current hop
    // After curl has ended the hop. True: the next hop was prepared and the handle is to be added again.
    bool nextHop(CURLcode code);
    void finish(Error error); // before it ended by itself
    void finish();
    bool isStalled(std::int64_t nowNs);
    bool isPaused() const { return m_paused; }
    void unpause();
    std::int64_t takeCounted() { return std::exchange(m_counted, 0); }

private:
    static std::size_t onHeader(char* data, std::size_t size, std::size_t count, void* self);
    static std::size_t onBody(char* data, std::size_t size, std::size_t count, void* self);
    void headerLine(std::string_view line);
    std::size_t body(std::string_view bytes);
    bool acceptHead();
    bool refuse(Error error);
    std::string proxyFor(const std::string& url) const;
    bool followRedirect();
    Error curlError(CURLcode code) const;

    Engine::Id m_id;
    Transfer m_transfer;
    const NetworkOptions& m_options;
    RateLimit& m_limit;
    CURL* m_easy;
    curl_slist* m_headers = nullptr;
    char m_errorText[CURL_ERROR_SIZE] = {};
    Response m_response;
    std::optional<Error> m_error;
    bool m_headSeen = false;
    bool m_paused = false;
    int m_hops = 0;
    std::int64_t m_counted = 0;
    std::int64_t m_windowStartNs = 0;
    std::uint64_t m_windowBytes = 0;
};

} // namespace gb::transfer
