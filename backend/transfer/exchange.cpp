// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "exchange.h"

#include <algorithm>

#include <backend/base/clock.h>

namespace gb::transfer {
namespace {

constexpr int maximalHops = 8;

bool isRedirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string_view trimmedLine(std::string_view text)
{
    while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' '))
        text.remove_suffix(1);
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    return text;
}

bool hasLineBreak(std::string_view text)
{
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

} // namespace

void RateLimit::setRate(std::int64_t bytesPerSecond)
{
    m_rate = std::max<std::int64_t>(bytesPerSecond, 0);
    m_level = 0;
    m_filledAtNs = monotonicNs();
}

bool RateLimit::mayTake()
{
    if (m_rate == 0)
        return true;
    const std::int64_t now = monotonicNs();
    m_level += static_cast<double>(now - m_filledAtNs) * 1e-9 * static_cast<double>(m_rate);
    // At most a tenth of a second is saved up, so that a quiet moment is not followed by a burst.
    m_level = std::min(m_level, static_cast<double>(m_rate) / 10);
    m_filledAtNs = now;
    return m_level > 0;
}

Exchange::Exchange(Engine::Id id, Transfer transfer, const NetworkOptions& options, RateLimit& limit)
    : m_id(id), m_transfer(std::move(transfer)), m_options(options), m_limit(limit), m_easy(curl_easy_init())
{
    m_response.url = m_transfer.request.url;
}

Exchange::~Exchange()
{
    curl_easy_cleanup(m_easy);
    curl_slist_free_all(m_headers);
}

std::string Exchange::proxyFor(const std::string& url) const
{
    return url.starts_with("https:") ? m_options.httpsProxy : m_options.httpProxy;
}

Status Exchange::prepare()
{
    const Request& request = m_transfer.request;
    const std::string origin = originOf(m_response.url);
    if (origin.empty())
        return fail("net.bad_url", "not an http or https address");
    curl_slist_free_all(std::exchange(m_headers, nullptr));
    std::vector<Header> headers = request.headers;
    headers.push_back({"Accept-Encoding", "identity"});
    if (request.credential && !request.credential->token.empty() && request.credential->origin == origin)
        headers.push_back({"Authorization", "Bearer " + request.credential->token});
    if (request.range)
        headers.push_back({"Range",
            "bytes=" + std::to_string(request.range->first) + "-" + std::to_string(request.range->last)});
    for (const Header& header : headers) {
        const std::string line = header.name + ": " + header.value;
        if (hasLineBreak(line))
            return fail("net.bad_header", "a header contains a line break");
        m_headers = curl_slist_append(m_headers, line.c_str());
    }
    curl_easy_reset(m_easy);
    curl_easy_setopt(m_easy, CURLOPT_URL, m_response.url.c_str());
    curl_easy_setopt(m_easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(m_easy, CURLOPT_HTTPHEADER, m_headers);
    curl_easy_setopt(m_easy, CURLOPT_NOBODY, request.method == "HEAD" ? 1L : 0L);
    // Parallel ranges are to be parallel connections; HTTP/2 would send them all through one.
    curl_easy_setopt(m_easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(m_easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(m_easy, CURLOPT_BUFFERSIZE, 512L * 1024L);
    curl_easy_setopt(m_easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(m_options.connectTimeoutMs));
    curl_easy_setopt(m_easy, CURLOPT_PROXY, proxyFor(m_response.url).c_str());
    curl_easy_setopt(m_easy, CURLOPT_NOPROXY, m_options.noProxy.c_str());
    curl_easy_setopt(m_easy, CURLOPT_USERAGENT, m_options.userAgent.c_str());
    if (!m_options.caFile.empty())
        curl_easy_setopt(m_easy, CURLOPT_CAINFO, m_options.caFile.c_str());
    curl_easy_setopt(m_easy, CURLOPT_ERRORBUFFER, m_errorText);
    curl_easy_setopt(m_easy, CURLOPT_HEADERFUNCTION, &Exchange::onHeader);
    curl_easy_setopt(m_easy, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(m_easy, CURLOPT_WRITEFUNCTION, &Exchange::onBody);
    curl_easy_setopt(m_easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(m_easy, CURLOPT_PRIVATE, this);
    m_response.headers.clear();
    m_response.status = 0;
    m_headSeen = false;
    m_windowStartNs = monotonicNs();
    m_windowBytes = 0;
    return {};
}

std::size_t Exchange::onHeader(char* data, std::size_t size, std::size_t count, void* self)
{
    static_cast<Exchange*>(self)->headerLine({data, size * count});
    return size * count;
}

std::size_t Exchange::onBody(char* data, std::size_t size, std::size_t count, void* self)
{
    return static_cast<Exchange*>(self)->body({data, size * count});
}

void Exchange::headerLine(std::string_view line)
{
    if (line.starts_with("HTTP/")) { // also after "100 Continue" or a proxy's own answer
        m_response.headers.clear();
        return;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || m_response.headers.size() > 200)
        return;
    m_response.headers.push_back(
        {std::string(line.substr(0, colon)), std::string(trimmedLine(line.substr(colon + 1)))});
}

bool Exchange::refuse(Error error)
{
    m_error = std::move(error);
    return false;
}

bool Exchange::acceptHead()
{
    if (m_headSeen)
        return true;
    m_headSeen = true;
    long status = 0;
    curl_easy_getinfo(m_easy, CURLINFO_RESPONSE_CODE, &status);
    m_response.status = static_cast<int>(status);
    if (!m_response.isSuccess())
        return true;
    // Asked for identity: anything else would be stored as if it were the file.
    const std::string encoding = m_response.header("Content-Encoding");
    if (!encoding.empty() && encoding != "identity")
        return refuse(
            {"net.encoded", "the server sent " + encoding.substr(0, 30) + ", which was not asked for"});
    for (const auto& check : m_transfer.checks) {
        if (Status checked = check->head(m_response); !checked)
            return refuse(std::move(checked).error());
    }
    return true;
}

std::size_t Exchange::body(std::string_view bytes)
{
    if (!acceptHead())
        return 0;
    if (m_transfer.sink && m_response.isSuccess()) {
        if (!m_limit.mayTake()) {
            m_paused = true;
            return CURL_WRITEFUNC_PAUSE;
        }
        m_limit.take(bytes.size());
        if (Status status = m_transfer.sink->write(bytes); !status) {
            refuse(std::move(status).error());
            return 0;
        }
        m_counted += static_cast<std::int64_t>(bytes.size());
    } else if (m_response.body.size() + bytes.size() <= m_transfer.request.bodyLimit) {
        m_response.body.append(bytes);
    } else if (m_response.isSuccess()) {
        refuse({"net.too_large", "the answer is larger than expected"});
        return 0;
    }
    m_response.received += bytes.size();
    m_windowBytes += bytes.size();
    return bytes.size();
}

bool Exchange::followRedirect()
{
    const Redirects policy = m_transfer.request.redirects;
    if (!isRedirect(m_response.status) || policy == Redirects::Keep)
        return false;
    const std::string target = resolveUrl(m_response.url, m_response.header("Location"));
    const std::string origin = originOf(target);
    const std::string here = originOf(m_response.url);
    if (policy == Redirects::SameOrigin && origin != here)
        return false;
    if (origin.empty())
        return refuse({"net.bad_redirect", "the server redirected to something that is no web address"});
    if (here.starts_with("https:") && !origin.starts_with("https:"))
        return refuse({"net.bad_redirect", "the server redirected from https to http"});
    if (++m_hops > maximalHops)
        return refuse({"net.bad_redirect", "too many redirects"});
    m_response.url = target;
    m_response.body.clear();
    m_response.received = 0;
    return true;
}

bool Exchange::nextHop(CURLcode code)
{
    if (m_error)
        return false;
    if (code != CURLE_OK) {
        acceptHead();
        refuse(curlError(code));
        return false;
    }
    if (!acceptHead() || !followRedirect())
        return false;
    if (Status status = prepare(); !status)
        return refuse(std::move(status).error());
    return true;
}

Error Exchange::curlError(CURLcode code) const
{
    const std::string text = m_errorText[0] ? m_errorText : curl_easy_strerror(code);
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return {"net.unreachable", text};
    case CURLE_OPERATION_TIMEDOUT:
        return {"net.timeout", text};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
        return {"net.certificate", text};
    case CURLE_PROXY:
        return {"net.proxy", text};
    default:
        return {"net.cut", text};
    }
}

void Exchange::finish(Error error)
{
    m_error = std::move(error);
    finish();
}

void Exchange::finish()
{
    const auto done = std::exchange(m_transfer.done, nullptr);
    m_transfer.sink.reset();
    if (!done)
        return;
    if (m_error)
        done(fail(*m_error));
    else
        done(std::move(m_response));
}

bool Exchange::isStalled(std::int64_t nowNs)
{
    const std::int64_t window = std::int64_t{m_transfer.request.stallMs} * 1'000'000;
    if (m_paused) {
        m_windowStartNs = nowNs;
        return false;
    }
    if (nowNs - m_windowStartNs < window)
        return false;
    // Slow is what a limit is for; a connection that brings nothing at all is dead with one too.
    const bool stalled = m_windowBytes < (m_limit.isLimited() ? 1 : m_transfer.request.stallBytes);
    m_windowStartNs = nowNs;
    m_windowBytes = 0;
    return stalled;
}

void Exchange::unpause()
{
    m_paused = false;
    curl_easy_pause(m_easy, CURLPAUSE_CONT);
}

} // namespace gb::transfer
