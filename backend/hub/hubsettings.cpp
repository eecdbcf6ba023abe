// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hubsettings.h"

#include <algorithm>

namespace gb::hub {
namespace {

bool isTrue(std::string value)
{
    std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::toupper(c); });
    return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

std::string stripped(std::string text)
{
    const auto last = text.find_last_not_of(" \t\r\n");
    text.erase(last == std::string::npos ? 0 : last + 1);
    return text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

fs::path expanded(const std::string& path, const std::string& home)
{
    if (path == "~" || path.starts_with("~/"))
        return home + path.substr(1);
    return path;
}

} // namespace

HubSettings HubSettings::fromEnvironment(const std::function<std::string(const char*)>& variable)
{
    const auto either = [&](const char* name, const char* older) {
        const std::string value = variable(name);
        return value.empty() ? variable(older) : value;
    };
    HubSettings settings;
    const std::string userHome = variable("HOME");
    fs::path home = expanded(variable("HF_HOME"), userHome);
    if (home.empty()) {
        const std::string caches = variable("XDG_CACHE_HOME");
        home = (caches.empty() ? fs::path(userHome) / ".cache" : expanded(caches, userHome)) / "huggingface";
    }
    settings.cache = expanded(either("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"), userHome);
    if (settings.cache.empty())
        settings.cache = home / "hub";
    if (std::string endpoint = variable("HF_ENDPOINT"); !endpoint.empty())
        settings.endpoint = std::move(endpoint);
    while (settings.endpoint.ends_with('/'))
        settings.endpoint.pop_back();
    settings.token = stripped(either("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"));
    if (settings.token.empty()) {
        const fs::path file = expanded(variable("HF_TOKEN_PATH"), userHome);
        if (const auto text = readFile(file.empty() ? home / "token" : file, 4096))
            settings.token = stripped(*text);
    }
    settings.offline = isTrue(either("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"));
    settings.network = transfer::NetworkOptions::fromEnvironment(variable);
    settings.network.userAgent = "glovebox";
    return settings;
}

} // namespace gb::hub
