// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "post.h"

#include <algorithm>
#include <memory>

#include <curl/curl.h>

#include <backend/base/json.h>

namespace gb::rpc {
namespace {

struct Exchange
{
    const std::atomic<bool>& stop;
    const std::function<void(std::string)>& take;
    CURL* curl = nullptr;
    std::string body; // of a whole answer, or the unfinished event of a stream

    bool isStream() const
    {
        const char* type = nullptr;
        ::curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
        return type && std::string_view(type).starts_with("text/event-stream");
    }

    void takeEvents()
    {
        for (std::size_t end = body.find("\n\n"); end != std::string::npos; end = body.find("\n\n")) {
            std::string data;
            for (std::size_t at = 0; at < end;) {
                const std::size_t line = std::min(body.find('\n', at), end);
                if (body.compare(at, 6, "data: ") == 0)
                    data += body.substr(at + 6, line - at - 6);
                at = line + 1;
            }
            body.erase(0, end + 2);
            if (!data.empty())
                take(std::move(data));
        }
    }
};

std::size_t received(char* bytes, std::size_t, std::size_t count, void* pointer)
{
    auto& exchange = *static_cast<Exchange*>(pointer);
    exchange.body.append(bytes, count);
    if (exchange.isStream())
        exchange.takeEvents();
    return count;
}

int shouldStop(void* pointer, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
{
    return static_cast<Exchange*>(pointer)->stop ? 1 : 0;
}

using CurlPtr = std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)>;
using HeaderPtr = std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)>;

HeaderPtr headerList(const HostAccess& access, const std::vector<std::string>& headers)
{
    curl_slist* list = nullptr;
    list = ::curl_slist_append(list, ("Authorization: Bearer " + access.token).c_str());
    for (const std::string& header : headers)
        list = ::curl_slist_append(list, header.c_str());
    return {list, ::curl_slist_free_all};
}

std::size_t appended(char* bytes, std::size_t, std::size_t count, void* pointer)
{
    static_cast<std::string*>(pointer)->append(bytes, count);
    return count;
}

// Where to, and with which token; everything here is on this machine, whatever proxy the environment names.
void aim(CURL* curl, const HostAccess& access, const char* path, const curl_slist* headers)
{
    const std::string url = (access.url.empty() ? "http://localhost" : access.url) + path;
    ::curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    if (!access.socket.empty())
        ::curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, access.socket.c_str());
    ::curl_easy_setopt(curl, CURLOPT_NOPROXY, "127.0.0.1,localhost,::1");
    ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 10'000L);
    ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
}

} // namespace

Result<Json> fetchSchema(const HostAccess& access)
{
    const CurlPtr curl(::curl_easy_init(), ::curl_easy_cleanup);
    const HeaderPtr list = headerList(access, {});
    std::string body;
    aim(curl.get(), access, "/v1/schema", list.get());
    ::curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, appended);
    ::curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);
    const CURLcode code = ::curl_easy_perform(curl.get());
    if (code != CURLE_OK)
        return fail(
            "expose.unreachable", std::string("no answer from the host: ") + ::curl_easy_strerror(code));
    auto schema = parseJson(body);
    if (schema && schema->is_object() && schema->contains("functions"))
        return schema;
    const std::string message = schema ? stringOr(objectOr(*schema, "error"), "message") : std::string();
    return fail("expose.unreachable", message.empty() ? "what answers there is no interface host" : message);
}

Status postMessage(const HostAccess& access, const std::string& body, const std::vector<std::string>& headers,
    const std::atomic<bool>& stop, const std::function<void(std::string)>& take)
{
    const CurlPtr curl(::curl_easy_init(), ::curl_easy_cleanup);
    const HeaderPtr list = headerList(access, headers);
    Exchange exchange{stop, take, curl.get(), {}};
    aim(curl.get(), access, "/mcp", list.get());
    ::curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.data());
    ::curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    ::curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, received);
    ::curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &exchange);
    ::curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
    ::curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, shouldStop);
    ::curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &exchange);
    const CURLcode code = ::curl_easy_perform(curl.get());
    if (code != CURLE_OK)
        return fail("mcp.unreachable", std::string("no answer from the host: ") + ::curl_easy_strerror(code));
    if (exchange.isStream() || exchange.body.empty())
        return {};
    const auto answer = parseJson(exchange.body);
    if (answer && (answer->is_array() || stringOr(*answer, "jsonrpc") == "2.0")) {
        take(answer->dump(-1, ' ', false, Json::error_handler_t::replace));
        return {};
    }
    long status = 0;
    ::curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    const std::string message = answer ? stringOr(objectOr(*answer, "error"), "message") : std::string();
    return fail("mcp.http",
        "the host answered with status " + std::to_string(status) + (message.empty() ? "" : ": " + message));
}

} // namespace gb::rpc
