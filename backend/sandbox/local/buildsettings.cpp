// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "buildsettings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <set>
#include <sstream>

#include "hostcommand.h"

namespace gb {
namespace {

constexpr const char* certificates = "/etc/ssl/certs/ca-certificates.crt";

std::string trimmed(const std::string& text)
{
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string valueOr(const std::map<std::string, std::string>& map, const std::string& key)
{
    const auto found = map.find(key);
    return found == map.end() ? "" : found->second;
}

std::vector<std::string> wordsOf(std::string list)
{
    std::ranges::replace(list, ',', ' '); // uv separates with commas, pip with spaces
    std::istringstream words(list);
    return {std::istream_iterator<std::string>(words), {}};
}

// Folders of this machine named in a list of links become visible under the same path.
void bindLocalFolders(const std::string& list, BuildSettings& settings)
{
    for (const std::string& named : localFolders(list)) {
        // An index "…/simple" refers to files beside it.
        const fs::path path(named);
        const std::string folder = (path.filename() == "simple" ? path.parent_path() : path).string();
        const bool known =
            std::ranges::any_of(settings.binds, [&](const BindSpec& bind) { return bind.source == folder; });
        if (!known)
            settings.binds.push_back({folder, folder});
    }
}

void translatePip(
    const std::map<std::string, std::string>& pip, const std::string& home, BuildSettings& settings)
{
    static constexpr std::array lists{std::pair{"index-url", "UV_DEFAULT_INDEX"},
        std::pair{"extra-index-url", "UV_INDEX"}, std::pair{"find-links", "UV_FIND_LINKS"},
        std::pair{"trusted-host", "UV_INSECURE_HOST"}};
    for (const auto& [from, to] : lists) {
        std::string list;
        for (const std::string& word : wordsOf(valueOr(pip, from))) {
            const std::string path = word.starts_with("~/") ? home + word.substr(1) : word;
            list += (list.empty() ? "" : std::string(from) == "find-links" ? "," : " ") + path;
        }
        if (list.empty())
            continue;
        bindLocalFolders(list, settings);
        settings.env.emplace(to, list);
    }
    for (const auto& [from, to] :
        {std::pair{"timeout", "UV_HTTP_TIMEOUT"}, std::pair{"default-timeout", "UV_HTTP_TIMEOUT"},
            std::pair{"retries", "UV_HTTP_RETRIES"}, std::pair{"no-index", "UV_NO_INDEX"}}) {
        const std::string value = valueOr(pip, from);
        const bool isNumber = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
        const bool isFlag = value == "true" || value == "false" || value == "yes" || value == "on";
        if (isNumber || isFlag)
            settings.env.emplace(to, value);
    }
    if (const std::string proxy = valueOr(pip, "proxy"); !proxy.empty()) {
        for (const char* name : {"http_proxy", "https_proxy"})
            settings.env.emplace(name, proxy);
    }
    // pip takes the best version of all indexes; uv's default would take the first index that knows the name.
    settings.env.emplace("UV_INDEX_STRATEGY", "unsafe-best-match");
}

void passCertificates(const std::map<std::string, std::string>& environment,
    const std::string& pipCertificate, BuildSettings& settings)
{
    std::string file = valueOr(environment, "SSL_CERT_FILE");
    for (const std::string& other : {valueOr(environment, "REQUESTS_CA_BUNDLE"), pipCertificate}) {
        if (file.empty())
            file = other;
    }
    std::error_code error;
    if (fs::is_directory("/etc/ssl/certs", error))
        settings.binds.push_back({"/etc/ssl/certs", "/etc/ssl/certs"});
    if (fs::is_directory("/usr/share/ca-certificates", error))
        settings.binds.push_back({"/usr/share/ca-certificates", "/usr/share/ca-certificates"});
    if (fs::is_directory("/usr/local/share/ca-certificates", error))
        settings.binds.push_back({"/usr/local/share/ca-certificates", "/usr/local/share/ca-certificates"});
    if (!file.empty() && !file.starts_with("/etc/ssl/certs/") && fs::is_regular_file(file, error)) {
        settings.binds.push_back({file, "/run/glovebox/ca.pem"});
        file = "/run/glovebox/ca.pem";
    } else {
        file = certificates;
    }
    for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"})
        settings.env[name] = file;
}

std::vector<std::string> aptAcquireOptions()
{
    std::vector<std::string> options;
    const auto dump = runHostCommand({"apt-config", "dump"}, {});
    std::istringstream lines(dump ? dump->output : "");
    static constexpr std::array uninteresting{"Acquire::IndexTargets", "Acquire::CompressionTypes",
        "Acquire::Changelogs", "Acquire::cdrom", "Acquire::Languages", "Acquire::GzipIndexes"};
    for (std::string line; std::getline(lines, line);) {
        const bool skip = !line.starts_with("Acquire::") || line.find("\"\"") != std::string::npos
            || std::any_of(uninteresting.begin(), uninteresting.end(),
                [&](const char* prefix) { return line.starts_with(prefix); });
        if (!skip)
            options.push_back(line);
    }
    return options;
}

} // namespace

std::map<std::string, std::string> parsePipConfig(const std::string& text)
{
    std::map<std::string, std::string> settings;
    std::istringstream lines(text);
    std::string section;
    std::string key;
    for (std::string line; std::getline(lines, line);) {
        const std::string content = trimmed(line);
        if (content.empty() || content[0] == '#' || content[0] == ';')
            continue;
        if (content.front() == '[') {
            section = content.substr(1, content.find(']') - 1);
            key.clear();
            continue;
        }
        if (section != "global" && section != "install")
            continue;
        const auto equals = content.find('=');
        if ((line[0] == ' ' || line[0] == '\t') && !key.empty()) {
            settings[key] += " " + content;
        } else if (equals != std::string::npos) {
            key = trimmed(content.substr(0, equals));
            settings[key] = trimmed(content.substr(equals + 1));
        }
    }
    return settings;
}

std::map<std::string, std::string> environmentHere(const BuildSettings& settings)
{
    std::map<std::string, std::string> env = settings.env;
    for (auto& [name, value] : env) {
        for (const BindSpec& bind : settings.binds) {
            if (value == bind.target)
                value = bind.source;
        }
    }
    return env;
}

std::vector<std::string> localFolders(const std::string& list)
{
    std::vector<std::string> folders;
    for (std::string word : wordsOf(list)) {
        if (word.starts_with("file://"))
            word.erase(0, 7);
        while (word.size() > 1 && word.ends_with('/'))
            word.pop_back();
        std::error_code error;
        if (word.starts_with('/') && fs::is_directory(word, error))
            folders.push_back(std::move(word));
    }
    return folders;
}

std::map<std::string, std::string> pipSettings(const std::map<std::string, std::string>& environment)
{
    const std::string home = valueOr(environment, "HOME");
    std::map<std::string, std::string> settings;
    const std::string config = valueOr(environment, "XDG_CONFIG_HOME");
    for (const std::string& file : {std::string("/etc/xdg/pip/pip.conf"), std::string("/etc/pip.conf"),
             home + "/.pip/pip.conf", (config.empty() ? home + "/.config" : config) + "/pip/pip.conf",
             valueOr(environment, "PIP_CONFIG_FILE")}) {
        for (auto& [key, value] : parsePipConfig(readFile(file).value_or("")))
            settings[key] = value;
    }
    for (const auto& [name, value] : environment) {
        if (!name.starts_with("PIP_") || name == "PIP_CONFIG_FILE")
            continue;
        std::string key = name.substr(4);
        std::transform(key.begin(), key.end(), key.begin(),
            [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
        settings[key] = value;
    }
    return settings;
}

BuildSettings readPackageSettings(const std::map<std::string, std::string>& environment)
{
    BuildSettings settings;
    static const std::set<std::string> proxies{"http_proxy", "https_proxy", "no_proxy", "all_proxy",
        "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"};
    // These would move what the recipe has to know the place of.
    static const std::set<std::string> ours{"UV_CACHE_DIR", "UV_LINK_MODE", "UV_PYTHON",
        "UV_PROJECT_ENVIRONMENT", "UV_CONFIG_FILE", "UV_NO_CACHE", "UV_OFFLINE", "UV_TOOL_DIR"};
    for (const auto& [name, value] : environment) {
        if (proxies.contains(name) || (name.starts_with("UV_") && !ours.contains(name)))
            settings.env[name] = value;
    }
    for (const char* name :
        {"UV_FIND_LINKS", "UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"})
        bindLocalFolders(valueOr(settings.env, name), settings);
    const auto pip = pipSettings(environment);
    translatePip(pip, valueOr(environment, "HOME"), settings);
    passCertificates(environment, valueOr(pip, "cert"), settings);
    return settings;
}

BuildSettings readBuildSettings(const std::map<std::string, std::string>& environment)
{
    BuildSettings settings = readPackageSettings(environment);
    settings.aptOptions = aptAcquireOptions();
    return settings;
}

} // namespace gb
