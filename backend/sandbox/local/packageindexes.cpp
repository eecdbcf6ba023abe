// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "packageindexes.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <sstream>

#include "buildsettings.h"
#include "hostcommand.h"
#include "otherindexes.h"

namespace gb {
namespace {

using Texts = std::map<std::string, std::string>;

constexpr int securePort = 443;
constexpr int plainPort = 80;

// Debian's Python has no pip of its own, only the archive that goes into new environments.
constexpr const char* pipQuestion = R"(
import glob, json, os, sys
try:
    import pip
except ImportError:
    found = glob.glob('/usr/share/python-wheels/pip-*.whl')
    try:
        import ensurepip
        found += glob.glob(os.path.join(os.path.dirname(ensurepip.__file__), '_bundled', 'pip-*.whl'))
    except ImportError:
        pass
    sys.path[:0] = found[:1]
from pip._internal.models.index import PyPI
print(json.dumps([PyPI.simple_url, 'https://' + PyPI.file_storage_domain]))
)";

std::string textOr(const Texts& texts, const std::string& name)
{
    const auto found = texts.find(name);
    return found == texts.end() ? "" : found->second;
}

void addOnce(std::vector<NetworkPlace>& places, const NetworkPlace& place)
{
    if (std::ranges::find(places, place) == places.end())
        places.push_back(place);
}

// pip separates with spaces, uv with commas and may put "name=" in front.
void addUrls(std::vector<NetworkPlace>& places, std::string list)
{
    std::ranges::replace(list, ',', ' ');
    std::istringstream words(list);
    for (std::string word; words >> word;) {
        const auto scheme = word.find("://");
        const auto equals = word.find('=');
        if (scheme != std::string::npos && equals < scheme)
            word.erase(0, equals + 1);
        if (auto place = placeOfUrl(word)) {
            place->inPrivate = true; // set up by the person
            addOnce(places, *place);
        }
    }
}

// The default of pip, which is uv's as well; no name of it stands in our code. Nobody inside has a say in
// where these names lead, and in many a company it is a mirror in its own network.
std::vector<NetworkPlace> askPip(const std::string& venv)
{
    static std::mutex mutex;
    static std::map<std::string, std::vector<NetworkPlace>> known;
    const std::lock_guard lock(mutex);
    for (const std::string& python : {std::string("python3"), venv + "/bin/python3"}) {
        if (const auto found = known.find(python); found != known.end())
            return found->second;
        const auto said = runHostCommand({python, "-I", "-c", pipQuestion}, {});
        const auto urls = said && said->code == 0 ? parseJson(said->output) : Result<Json>(Json());
        if (!urls || !urls->is_array())
            continue;
        for (const Json& url : *urls) {
            if (const auto place = placeOfUrl(url.is_string() ? url.get<std::string>() : std::string()))
                addOnce(known[python], {place->host, place->port, true});
        }
        return known[python];
    }
    return {};
}

std::string percentDecoded(const std::string& text)
{
    constexpr int hexadecimal = 16;
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const char* const digits = text.data() + i + 1;
        if (text[i] == '%' && i + 2 < text.size()
            && std::from_chars(digits, digits + 2, value, hexadecimal).ptr == digits + 2) {
            out += static_cast<char>(value);
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

// "http://user:password@proxy:3128" or "socks5h://proxy"; one of another kind is not spoken to, and whoever
// would need it is told so.
Json upstreamOf(const std::string& name, const std::string& url)
{
    constexpr int socksPort = 1080;
    const std::string whole = url.find("://") == std::string::npos ? "http://" + url : url;
    const std::string scheme = whole.substr(0, whole.find("://"));
    const bool isSocks = scheme == "socks5" || scheme == "socks5h";
    const std::string rest = whole.substr(scheme.size() + 3);
    const auto place = isSocks || scheme == "http" ? placeOfUrl("http://" + rest) : std::nullopt;
    if (!place)
        return Json{{"refused",
            name + " of this machine names a proxy of a kind that sandboxes cannot use (" + scheme
                + "); set it to one of http:// or socks5h://"}};
    const std::string authority = rest.substr(0, rest.find_first_of("/?#"));
    const auto at = authority.rfind('@');
    const bool hasPort = authority.find(':', at == std::string::npos ? 0 : at) != std::string::npos;
    Json json{{"host", place->host}, {"port", isSocks && !hasPort ? socksPort : place->port}};
    if (isSocks)
        json["kind"] = "socks5";
    if (at != std::string::npos)
        json["credentials"] = percentDecoded(authority.substr(0, at));
    return json;
}

Json upstreamFrom(const Texts& environment)
{
    for (const char* name :
        {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY"}) {
        if (const std::string url = textOr(environment, name); !url.empty())
            return upstreamOf(name, url);
    }
    return {};
}

std::vector<std::string> directFrom(const Texts& environment)
{
    std::string list = textOr(environment, "no_proxy");
    if (list.empty())
        list = textOr(environment, "NO_PROXY");
    std::ranges::replace(list, ',', ' ');
    std::istringstream words(list);
    return {std::istream_iterator<std::string>(words), {}};
}

} // namespace

std::string NetworkPlace::text() const
{
    return port == securePort ? host : host + ":" + std::to_string(port);
}

std::optional<NetworkPlace> placeOfUrl(const std::string& url)
{
    const auto scheme = url.find("://");
    const std::string kind = url.substr(0, scheme);
    if (scheme == std::string::npos || (kind != "https" && kind != "http"))
        return std::nullopt;
    std::string authority = url.substr(scheme + 3);
    authority.resize(std::min(authority.size(), authority.find_first_of("/?#")));
    if (const auto at = authority.rfind('@'); at != std::string::npos)
        authority.erase(0, at + 1);
    NetworkPlace place;
    place.port = kind == "https" ? securePort : plainPort;
    const auto colon = authority.rfind(':');
    if (colon != std::string::npos && authority.find(']', colon) == std::string::npos) {
        const std::string port = authority.substr(colon + 1);
        const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
        if (error != std::errc() || end != port.data() + port.size())
            return std::nullopt;
        authority.resize(colon);
    }
    if (authority.starts_with('[') && authority.ends_with(']'))
        authority = authority.substr(1, authority.size() - 2);
    place.host = authority;
    return authority.empty() ? std::nullopt : std::optional(place);
}

NetworkPlace placeOfEntry(const std::string& entry)
{
    NetworkPlace place{entry, securePort, false};
    const auto colon = entry.rfind(':');
    if (colon != std::string::npos && entry.find('/') == std::string::npos) {
        (void)std::from_chars(entry.data() + colon + 1, entry.data() + entry.size(), place.port);
        place.host = entry.substr(0, colon);
    }
    place.inPrivate = place.host == "localhost";
    return place;
}

std::vector<NetworkPlace> packageIndexes(const Texts& environment)
{
    std::vector<NetworkPlace> places;
    const Texts pip = pipSettings(environment);
    for (const char* key : {"index-url", "extra-index-url", "find-links"})
        addUrls(places, textOr(pip, key));
    for (const char* name :
        {"UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"})
        addUrls(places, textOr(environment, name));
    const std::string refused = textOr(pip, "no-index");
    const bool hasDefault = textOr(pip, "index-url").empty()
        && (refused.empty() || refused == "0" || refused == "false" || refused == "no");
    if (!hasDefault)
        return places;
    for (const NetworkPlace& place : askPip(textOr(environment, "VIRTUAL_ENV")))
        addOnce(places, place);
    return places;
}

Texts pipEnvironment(const Texts& environment)
{
    Texts out;
    const Texts pip = pipSettings(environment);
    for (const char* key : {"index-url", "extra-index-url", "find-links", "trusted-host", "no-index",
             "default-timeout", "timeout", "retries"}) {
        std::string name = std::string("PIP_") + key;
        std::ranges::transform(name, name.begin(), [](char c) {
            return c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        });
        if (std::string value = textOr(pip, key); !value.empty())
            out[name] = std::move(value);
    }
    out["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
    for (const char* name : {"NPM_CONFIG_REGISTRY", "npm_config_registry"}) {
        if (std::string value = textOr(environment, name); !value.empty())
            out["NPM_CONFIG_REGISTRY"] = std::move(value);
    }
    return out;
}

Json NetworkPlan::toJson() const
{
    Json json{{"hosts", Json::array()}, {"direct", direct}};
    for (const NetworkPlace& place : places)
        json["hosts"].push_back({{"host", place.host}, {"port", place.port}, {"private", place.inPrivate}});
    if (upstream.is_object())
        json["upstream"] = upstream;
    return json;
}

std::optional<NetworkPlan> planNetwork(const SandboxSpec& spec, const Texts& environment)
{
    const bool isList =
        spec.network.mode == NetworkMode::Default || spec.network.mode == NetworkMode::AllowList;
    if (spec.scoped || !isList)
        return std::nullopt;
    NetworkPlan plan;
    const auto channels = condaChannels(environment);
    plan.places = packageIndexes(environment);
    const auto registries = npmRegistries(environment);
    for (const auto* urls : {&registries, &channels}) {
        for (const std::string& url : *urls)
            addUrls(plan.places, url);
    }
    if (registries.empty())
        addUrls(plan.places, defaultNpmRegistry(spec, environment));
    for (const std::string& entry : spec.network.hosts)
        addOnce(plan.places, placeOfEntry(entry));
    plan.upstream = upstreamFrom(environment);
    plan.direct = directFrom(environment);
    return plan;
}

} // namespace gb
