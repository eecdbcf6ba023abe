// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "launchspec.h"

#include <algorithm>
#include <sstream>

#include <pwd.h>
#include <unistd.h>

namespace gb {
namespace {

constexpr std::int64_t mapSize = 65536;
constexpr std::int64_t rootsFirstId = 1000000000;
constexpr std::int64_t personInside = 1000;

Json rangesJson(const std::vector<IdRange>& ranges)
{
    Json json = Json::array();
    for (const IdRange& range : ranges)
        json.push_back({range.inside, range.outside, range.count});
    return json;
}

std::vector<IdRange> readRanges(const Json& json)
{
    std::vector<IdRange> ranges;
    for (const Json& item : json)
        ranges.push_back({item.at(0), item.at(1), item.at(2)});
    return ranges;
}

// The first range of the file that is ours and long enough.
Result<std::int64_t> subordinate(const char* file, const std::string& user, std::int64_t id)
{
    std::istringstream lines(readFile(file).value_or(""));
    for (std::string line; std::getline(lines, line);) {
        std::replace(line.begin(), line.end(), ':', ' ');
        std::istringstream words(line);
        std::string owner;
        std::int64_t first = 0;
        std::int64_t count = 0;
        if (words >> owner >> first >> count && (owner == user || owner == std::to_string(id))
            && count >= mapSize)
            return first;
    }
    const std::string entry = user + ":100000:65536";
    return fail("sandbox.no_subordinate_ids",
        std::string(file) + " gives " + user + " no range of " + std::to_string(mapSize)
            + " ids; an administrator can add one: usermod --add-subuids 100000-165535 --add-subgids "
              "100000-165535 "
            + user,
        Json{{"file", file}, {"user", user}, {"add", entry}});
}

std::vector<IdRange> around(std::int64_t first, std::int64_t own)
{
    return {{0, first, personInside}, {personInside, own, 1},
        {personInside + 1, first + personInside, mapSize - personInside - 1}};
}

} // namespace

Json LaunchSpec::toJson() const
{
    Json json{{"store", store.string()}, {"uids", rangesJson(uids)}, {"gids", rangesJson(gids)},
        {"folders", folders}, {"lowers", lowers}, {"upper", upper}, {"work", work}, {"binds", Json::array()},
        {"tmpfs", Json::array()}, {"links", Json::array()}, {"empty_folders", emptyFolders},
        {"network", network}, {"read_only_root", readOnlyRoot}, {"capabilities", capabilities},
        {"hostname", hostname}, {"processes", processes}, {"file_bytes", fileBytes}, {"groups", groups},
        {"processors", processors}, {"host_command", hostCommand}, {"host_env", Json::object()}};
    for (const BindSpec& bind : binds)
        json["binds"].push_back({bind.source, bind.target, bind.writable, bind.device});
    for (const TmpfsSpec& mount : tmpfs)
        json["tmpfs"].push_back({mount.target, mount.bytes, mount.mode});
    for (const LinkSpec& link : links)
        json["links"].push_back({link.to, link.at});
    for (const auto& [name, value] : hostEnv)
        json["host_env"][name] = value;
    return json;
}

Result<LaunchSpec> LaunchSpec::fromJson(const Json& json)
try {
    LaunchSpec spec;
    spec.store = json.at("store").get<std::string>();
    spec.uids = readRanges(json.at("uids"));
    spec.gids = readRanges(json.at("gids"));
    json.at("folders").get_to(spec.folders);
    json.at("lowers").get_to(spec.lowers);
    json.at("upper").get_to(spec.upper);
    json.at("work").get_to(spec.work);
    for (const Json& bind : json.at("binds"))
        spec.binds.push_back({bind.at(0), bind.at(1), bind.at(2), bind.size() > 3 && bind.at(3)});
    for (const Json& mount : json.at("tmpfs"))
        spec.tmpfs.push_back({mount.at(0), mount.at(1), mount.at(2)});
    for (const Json& link : json.at("links"))
        spec.links.push_back({link.at(0), link.at(1)});
    json.at("empty_folders").get_to(spec.emptyFolders);
    json.at("network").get_to(spec.network);
    json.at("read_only_root").get_to(spec.readOnlyRoot);
    json.at("capabilities").get_to(spec.capabilities);
    json.at("hostname").get_to(spec.hostname);
    json.at("processes").get_to(spec.processes);
    json.at("file_bytes").get_to(spec.fileBytes);
    json.at("groups").get_to(spec.groups);
    json.at("processors").get_to(spec.processors);
    json.at("host_command").get_to(spec.hostCommand);
    for (const auto& [name, value] : json.at("host_env").items())
        spec.hostEnv[name] = value.get<std::string>();
    return spec;
} catch (const std::exception& error) {
    return fail("sandbox.launch_spec", std::string("not a launch specification: ") + error.what());
}

Result<IdMap> idMapOfThisUser()
{
    const std::int64_t uid = ::geteuid();
    if (uid == 0)
        return IdMap{{{0, rootsFirstId, mapSize}}, {{0, rootsFirstId, mapSize}}};
    const passwd* entry = ::getpwuid(static_cast<uid_t>(uid));
    const std::string user = entry ? entry->pw_name : std::to_string(uid);
    const auto firstUid = subordinate("/etc/subuid", user, uid);
    if (!firstUid)
        return fail(firstUid.error());
    const auto firstGid = subordinate("/etc/subgid", user, uid);
    if (!firstGid)
        return fail(firstGid.error());
    return IdMap{around(*firstUid, uid), around(*firstGid, ::getegid())};
}

} // namespace gb
