// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxconfig.h"

#include <backend/base/ids.h>
#include <backend/base/json.h>

namespace gb::rpc {
namespace {

Result<std::map<std::string, std::string>> readTexts(const Json& json, const char* member)
{
    std::map<std::string, std::string> texts;
    const Json object = objectOr(json, member);
    for (const auto& [name, value] : object.items()) {
        if (!value.is_string() || name.empty() || name.find('=') != std::string::npos)
            return fail("config.environment", std::string(member) + " must map names to texts");
        texts[name] = value.get<std::string>();
    }
    return texts;
}

} // namespace

Result<BoxConfig> BoxConfig::fromJson(const Json& json)
{
    BoxConfig config;
    config.id = stringOr(json, "id");
    config.nonce = stringOr(json, "nonce");
    config.name = stringOr(json, "name", config.id);
    config.dataFolder = stringOr(json, "data_folder");
    config.secretsInExec = boolOr(json, "secrets_in_exec");
    config.memory = integerOr(json, "memory");
    config.cpu = numberOr(json, "cpu");
    config.disk = integerOr(json, "disk");
    config.diskReserve = integerOr(json, "disk_reserve");
    config.fileReserve = integerOr(json, "file_reserve");
    config.storeFolder = stringOr(json, "box_folder");
    config.timeout = integerOr(json, "timeout");
    config.idleTimeout = integerOr(json, "idle_timeout");
    config.python = stringOr(json, "python", config.python);
    if (!isId(config.id))
        return fail("config.id", "the id of a sandbox must be a UUID");
    if (!config.dataFolder.is_absolute())
        return fail("config.paths", "data_folder must be an absolute path");
    if (config.memory < 0 || config.cpu < 0 || config.disk < 0 || config.timeout < 0
        || config.idleTimeout < 0)
        return fail("config.limits", "a limit must not be negative");
    auto environment = readTexts(json, "environment");
    auto secrets = readTexts(json, "secrets");
    if (!environment || !secrets)
        return fail(environment ? secrets.error() : environment.error());
    config.environment = std::move(*environment);
    config.secrets = std::move(*secrets);
    auto launch = LaunchSpec::fromJson(objectOr(json, "launch"));
    if (!launch)
        return fail(launch.error());
    config.launch = std::move(*launch);
    if (!config.launch.hostCommand.empty())
        return fail("config.launch", "a sandbox cannot be a program of this machine");
    if (const auto network = json.find("network"); network != json.end() && network->is_object()) {
        auto rules = NetworkRules::fromJson(*network);
        if (!rules)
            return fail(rules.error());
        config.network = std::move(*rules);
    }
    if (config.network && config.launch.network)
        return fail("config.network", "a sandbox has either the whole network or a list of hosts");
    return config;
}

} // namespace gb::rpc
