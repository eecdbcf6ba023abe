// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>

#include <curl/curl.h>
#include <sys/stat.h>

#include <backend/base/json.h>

#include "checks.h"
#include "look.h"

namespace gb {
namespace {

using State = Check::State;

bool isTrue(std::string value)
{
    std::transform(
        value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::toupper(c); });
    return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

std::string hubEndpoint(const DoctorOptions& options)
{
    std::string endpoint = environmentValue(options, "HF_ENDPOINT");
    while (!endpoint.empty() && endpoint.back() == '/')
        endpoint.pop_back();
    return endpoint.empty() ? "https://huggingface.co" : endpoint;
}

// A person's endpoint may carry a name and password, which is nobody's business in a report.
std::string withoutCredentials(const std::string& url)
{
    const std::size_t start = url.find("://");
    const std::size_t at = url.find('@');
    if (start == std::string::npos || at == std::string::npos || url.find('/', start + 3) < at)
        return url;
    return url.substr(0, start + 3) + url.substr(at + 1);
}

struct HubAnswer
{
    CURLcode code = CURLE_OK;
    long status = 0;
    double seconds = 0;
};

HubAnswer askHub(const DoctorOptions& options, const std::string& endpoint)
{
    HubAnswer answer;
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(), &curl_easy_cleanup);
    CURL* curl = handle.get();
    curl_easy_setopt(curl, CURLOPT_URL, endpoint.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, long(options.hubTimeoutMs));
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "glovebox-doctor");
    // The daemon's own environment is clean, so the person's proxy is named here.
    for (const char* name : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
        if (const std::string proxy = environmentValue(options, name); !proxy.empty()) {
            curl_easy_setopt(curl, CURLOPT_PROXY, proxy.c_str());
            break;
        }
    std::string exceptions = environmentValue(options, "no_proxy");
    if (exceptions.empty())
        exceptions = environmentValue(options, "NO_PROXY");
    if (!exceptions.empty())
        curl_easy_setopt(curl, CURLOPT_NOPROXY, exceptions.c_str());
    for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"})
        if (const std::string bundle = environmentValue(options, name); !bundle.empty())
            curl_easy_setopt(curl, CURLOPT_CAINFO, bundle.c_str());
    answer.code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME, &answer.seconds);
    return answer;
}

std::string fixFor(CURLcode code, const std::string& endpoint)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
        return "Check the address in HTTPS_PROXY";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return "sudo apt install ca-certificates, or set SSL_CERT_FILE to your organisation's certificates";
    default:
        return "Look with: curl -I " + endpoint
            + " ; behind a proxy set HTTPS_PROXY, for a mirror HF_ENDPOINT, without a network "
              "HF_HUB_OFFLINE=1";
    }
}

struct FoundToken
{
    std::string where;
    fs::path file;
};

FoundToken findToken(const DoctorOptions& options)
{
    for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
        if (!environmentValue(options, name).empty())
            return {std::string("environment variable ") + name, {}};
    // The names in that file are no secret, and the value may lie in the desktop's key store.
    const auto kept = parseJson(textOfFile(options.dataFolder / "secrets.json"));
    if (kept && objectOr(*kept, "secrets").contains("HF_TOKEN"))
        return {"kept by Glovebox; see: glovebox secrets ls", {}};
    fs::path file = environmentValue(options, "HF_TOKEN_PATH");
    if (file.empty()) {
        const std::string home = environmentValue(options, "HF_HOME");
        const std::string cache = environmentValue(options, "XDG_CACHE_HOME");
        const fs::path folder = !home.empty() ? fs::path(home)
            : !cache.empty()                  ? fs::path(cache) / "huggingface"
                             : fs::path(environmentValue(options, "HOME")) / ".cache" / "huggingface";
        file = folder / "token";
    }
    if (textOfFile(file).empty())
        return {};
    return {file.string(), file};
}

} // namespace

Check checkHub(const DoctorOptions& options)
{
    Check check{"hub", "Model hub", State::Ok, "Models can be downloaded.", {}, {}};
    const std::string endpoint = hubEndpoint(options);
    const std::string shown = withoutCredentials(endpoint);
    if (isTrue(environmentValue(options, "HF_HUB_OFFLINE"))) {
        check.meaning = "You asked to stay offline: only models that are here already are used.";
        check.detail = "HF_HUB_OFFLINE is set";
        return check;
    }
    if (!options.askHub) {
        check.detail = shown + " was not asked";
        return check;
    }
    const HubAnswer answer = askHub(options, endpoint);
    if (answer.code == CURLE_OK && answer.status < 500) {
        check.detail = shown + " answered " + std::to_string(answer.status) + " in "
            + std::to_string(int(answer.seconds * 1000)) + " ms";
        return check;
    }
    check.state = State::Warning;
    check.meaning = "The model hub does not answer: only models that are here already can be used.";
    check.fix = fixFor(answer.code, shown);
    check.detail = shown + ": "
        + (answer.code == CURLE_OK ? "answered " + std::to_string(answer.status)
                                   : curl_easy_strerror(answer.code));
    return check;
}

Check checkToken(const DoctorOptions& options)
{
    Check check{
        "token", "Hub token", State::Ok, "Gated models that you were granted can be downloaded.", {}, {}};
    const FoundToken found = findToken(options);
    check.detail = found.where;
    if (found.where.empty()) {
        check.state = State::Warning;
        check.meaning = "No token was found: public models work, gated and private ones do not.";
        check.fix = "Make one at " + withoutCredentials(hubEndpoint(options))
            + "/settings/tokens, then: glovebox secrets set HF_TOKEN";
        check.detail = "neither HF_TOKEN nor a token file is there";
        return check;
    }
    struct stat info
    { };
    if (!found.file.empty() && ::stat(found.file.c_str(), &info) == 0 && (info.st_mode & 077) != 0) {
        check.state = State::Warning;
        check.meaning = "Other users of this machine can read your token.";
        check.fix = "chmod 600 " + found.file.string();
    }
    return check;
}

} // namespace gb
