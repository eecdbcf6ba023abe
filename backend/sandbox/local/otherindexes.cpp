// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "otherindexes.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <sstream>

#include <backend/base/files.h>

#include "hostcommand.h"

namespace gb {
namespace {

using Settings = std::map<std::string, std::string>;

std::string setting(const Settings& environment, const std::string& name)
{
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
}

std::string bare(const std::string& text)
{
    constexpr const char* around = " \t\r\"'";
    const auto first = text.find_first_not_of(around);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(around) - first + 1);
}

// "registry=URL" and "@scope:registry=URL".
void addFromNpmrc(std::vector<std::string>& urls, const fs::path& file)
{
    std::istringstream lines(readFile(file).value_or(""));
    for (std::string line; std::getline(lines, line);) {
        const auto equals = line.find('=');
        if (equals == std::string::npos || line.starts_with('#') || line.starts_with(';'))
            continue;
        const std::string key = bare(line.substr(0, equals));
        if (key == "registry" || (key.starts_with('@') && key.ends_with(":registry")))
            urls.push_back(bare(line.substr(equals + 1)));
    }
}

// The keys whose values name channels; everything that looks like an address below one of them is one.
void addFromCondarc(std::vector<std::string>& urls, const fs::path& file)
{
    static const std::set<std::string> wanted{
        "channels", "default_channels", "channel_alias", "custom_channels", "custom_multichannels"};
    std::istringstream lines(readFile(file).value_or(""));
    bool isWanted = false;
    for (std::string line; std::getline(lines, line);) {
        line = line.substr(0, line.find(" #"));
        if (line.empty() || line.front() == '#')
            continue;
        const bool isKey = line.front() != ' ' && line.front() != '\t' && line.front() != '-';
        if (isKey)
            isWanted = wanted.contains(bare(line.substr(0, line.find(':'))));
        auto at = isWanted ? line.find("http") : std::string::npos;
        while (at != std::string::npos) {
            const auto end = line.find_first_of(" \t\r\"',]}", at);
            urls.push_back(line.substr(at, end - at));
            at = line.find("http", end);
        }
    }
}

bool hasNpm(const SandboxSpec& spec)
{
    const auto is = [](const std::string& package) {
        return package == "npm" || package.starts_with("npm=");
    };
    std::error_code error;
    return std::ranges::any_of(spec.systemPackages, is)
        || (!spec.interpreter.empty() && fs::exists("/usr/bin/npm", error));
}

} // namespace

std::vector<std::string> npmRegistries(const Settings& environment)
{
    std::vector<std::string> urls;
    for (const char* name : {"NPM_CONFIG_REGISTRY", "npm_config_registry"})
        urls.push_back(setting(environment, name));
    const std::string home = setting(environment, "HOME");
    const std::string named = setting(environment, "NPM_CONFIG_USERCONFIG");
    if (!home.empty() || !named.empty())
        addFromNpmrc(urls, named.empty() ? fs::path(home) / ".npmrc" : fs::path(named));
    addFromNpmrc(urls, "/etc/npmrc");
    std::erase(urls, "");
    return urls;
}

std::vector<std::string> condaChannels(const Settings& environment)
{
    std::vector<std::string> urls{setting(environment, "CONDA_CHANNEL_ALIAS")};
    std::istringstream words(setting(environment, "CONDA_CHANNELS"));
    for (std::string word; std::getline(words, word, ',');)
        urls.push_back(bare(word));
    if (const std::string home = setting(environment, "HOME"); !home.empty()) {
        for (const char* name : {".condarc", ".conda/condarc", ".conda/.condarc", ".config/conda/.condarc"})
            addFromCondarc(urls, fs::path(home) / name);
    }
    for (const std::string& file : {setting(environment, "CONDARC"), std::string("/etc/conda/.condarc"),
             std::string("/etc/conda/condarc")}) {
        if (!file.empty())
            addFromCondarc(urls, file);
    }
    std::erase_if(urls, [](const std::string& url) { return url.find("://") == std::string::npos; });
    return urls;
}

std::string defaultNpmRegistry(const SandboxSpec& spec, const Settings& environment)
{
    static std::mutex mutex;
    static std::map<std::string, std::string> known; // by the PATH it is on
    if (!hasNpm(spec))
        return {};
    const std::string path = setting(environment, "PATH");
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(path); found != known.end())
        return found->second;
    Settings env{{"HOME", "/nonexistent"}};
    if (!path.empty())
        env["PATH"] = path;
    const auto said = runHostCommand({"npm", "config", "get", "registry"}, env);
    return known[path] = said && said->code == 0 ? bare(said->output.substr(0, said->output.find('\n'))) : "";
}

} // namespace gb
