// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "trust.h"

#include <algorithm>

#include <backend/base/hash.h>

namespace gb {
namespace {

constexpr unsigned onlyOurs = 0600;

std::string_view reachName(Reach::What what)
{
    switch (what) {
    case Reach::What::Path:
        return "path";
    case Reach::What::Network:
        return "network";
    case Reach::What::Secret:
        return "secret";
    case Reach::What::Interpreter:
        break;
    }
    return "interpreter";
}

bool isBelow(const fs::path& path, const fs::path& folder)
{
    const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return end == folder.end();
}

void addPath(std::vector<Reach>& reaches, const std::string& path, const fs::path& folder)
{
    if (path.empty())
        return;
    std::error_code error;
    const fs::path home = fs::weakly_canonical(folder, error);
    const fs::path given = fs::path(path).is_absolute() ? fs::path(path) : folder / path;
    const fs::path real = fs::weakly_canonical(given, error);
    if (error)
        reaches.push_back({Reach::What::Path, given.string()});
    else if (folder.empty() || !isBelow(real, home))
        reaches.push_back({Reach::What::Path, real.string()});
}

void addNetwork(std::vector<Reach>& reaches, const SandboxSpec& spec)
{
    switch (spec.network.mode) {
    case NetworkMode::Off:
        break;
    case NetworkMode::Default:
        if (!spec.scoped)
            reaches.push_back({Reach::What::Network, "package indexes"});
        break;
    case NetworkMode::On:
        reaches.push_back({Reach::What::Network, "on"});
        break;
    case NetworkMode::AllowList:
        if (!spec.scoped)
            reaches.push_back({Reach::What::Network, "package indexes"});
        for (const std::string& host : spec.network.hosts)
            reaches.push_back({Reach::What::Network, host});
        break;
    }
    // "name @ address": fetched while the image is built, from wherever it is.
    for (const auto* packages : {&spec.pythonPackages, &spec.notebookPackages}) {
        for (const std::string& package : *packages) {
            const auto scheme = package.find("://");
            const auto at = package.find('@');
            if (scheme == std::string::npos || at > scheme)
                continue;
            const auto begin = package.find_first_not_of(" \t", at + 1);
            reaches.push_back(
                {Reach::What::Network, package.substr(begin, package.find(' ', begin) - begin)});
        }
    }
    // Cloned with the person's own keys.
    for (const RepoSpec& repo : spec.repos)
        reaches.push_back({Reach::What::Network, repo.url});
}

std::string digestOfReaches(const std::vector<Reach>& reaches)
{
    Json all = Json::array();
    for (const Reach& reach : reaches)
        all.push_back(reach.toJson());
    return sha256Hex(all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace

Json Reach::toJson() const
{
    return Json{{"what", reachName(what)}, {"value", value}};
}

std::vector<Reach> reachesOf(const SandboxSpec& spec, const fs::path& experimentFolder)
{
    std::vector<Reach> reaches;
    for (const auto* mounts : {&spec.localFiles, &spec.localDirs}) {
        for (const MountSpec& mount : *mounts)
            addPath(reaches, mount.local, experimentFolder);
    }
    for (const ModelSpec& model : spec.models)
        addPath(reaches, model.path, experimentFolder);
    for (const std::string& secret : spec.secrets)
        reaches.push_back({Reach::What::Secret, secret});
    if (!spec.interpreter.empty())
        reaches.push_back({Reach::What::Interpreter, spec.interpreter});
    addNetwork(reaches, spec);
    std::ranges::sort(reaches,
        [](const Reach& a, const Reach& b) { return std::tie(a.what, a.value) < std::tie(b.what, b.value); });
    const auto repeated = std::ranges::unique(reaches);
    reaches.erase(repeated.begin(), repeated.end());
    return reaches;
}

Json TrustList::read() const
{
    auto json = parseJson(readFile(m_file).value_or("{}"));
    return json && json->is_object() ? std::move(*json) : Json::object();
}

Status TrustList::addOwn(const std::string& experiment) const
{
    Json all = read();
    all[experiment] = Json{{"own", true}};
    return writeFileAtomic(m_file, all.dump(1), onlyOurs);
}

Status TrustList::allow(
    const std::string& experiment, const fs::path& folder, const std::vector<Reach>& reaches) const
{
    const Json known = read();
    if (boolOr(objectOr(known, experiment), "own"))
        return {};
    Json all = Json::object();
    for (const auto& [id, entry] : known.items()) {
        std::error_code error;
        const std::string place = entry.is_object() ? stringOr(entry, "folder") : std::string();
        if (place.empty() || fs::exists(place, error) || error)
            all[id] = entry;
    }
    all[experiment] = Json{{"allowed", digestOfReaches(reaches)}, {"folder", folder.string()}};
    return writeFileAtomic(m_file, all.dump(1), onlyOurs);
}

bool TrustList::isAllowed(const std::string& experiment, const std::vector<Reach>& reaches) const
{
    const Json known = objectOr(read(), experiment);
    return reaches.empty() || boolOr(known, "own") || stringOr(known, "allowed") == digestOfReaches(reaches);
}

} // namespace gb
