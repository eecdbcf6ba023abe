// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "request.h"

#include <algorithm>
#include <memory>

#include <curl/curl.h>

namespace gb::transfer {
namespace {

using UrlHandle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string urlPart(CURLU* url, CURLUPart part, unsigned flags)
{
    char* text = nullptr;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK)
        return {};
    std::string copy(text);
    curl_free(text);
    return copy;
}

std::string lowered(std::string text)
{
    std::ranges::transform(
        text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text;
}

} // namespace

std::string originOf(const std::string& url)
{
    const UrlHandle handle(curl_url(), &curl_url_cleanup);
    if (curl_url_set(handle.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
        return {};
    const std::string scheme = lowered(urlPart(handle.get(), CURLUPART_SCHEME, 0));
    const std::string host = lowered(urlPart(handle.get(), CURLUPART_HOST, 0));
    const std::string port = urlPart(handle.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
    if ((scheme != "http" && scheme != "https") || host.empty())
        return {};
    return scheme + "://" + host + ":" + port;
}

std::string resolveUrl(const std::string& base, const std::string& location)
{
    const UrlHandle handle(curl_url(), &curl_url_cleanup);
    if (curl_url_set(handle.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK
        || curl_url_set(handle.get(), CURLUPART_URL, location.c_str(), CURLU_URLENCODE) != CURLUE_OK)
        return {};
    return urlPart(handle.get(), CURLUPART_URL, 0);
}

std::string Response::header(std::string_view name) const
{
    const std::string wanted = lowered(std::string(name));
    for (const Header& header : headers) {
        if (lowered(header.name) == wanted)
            return header.value;
    }
    return {};
}

Error statusError(const Response& response)
{
    Json data{{"status", response.status}, {"url", response.url.substr(0, response.url.find('?'))}};
    if (const std::string code = response.header("X-Error-Code"); !code.empty())
        data["error_code"] = code.substr(0, 100);
    std::string said = response.header("X-Error-Message");
    if (!said.empty())
        data["error_message"] = said.substr(0, 500);
    std::string message = "the server answered " + std::to_string(response.status);
    if (!said.empty())
        message += ": " + said.substr(0, 500);
    return Error{"http." + std::to_string(response.status), std::move(message), std::move(data)};
}

} // namespace gb::transfer
