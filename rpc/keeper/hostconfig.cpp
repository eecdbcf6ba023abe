// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hostconfig.h"

#include <backend/base/ids.h>
#include <backend/base/json.h>

namespace gb::rpc {
namespace {

Status readLimits(const Json& json, HostLimits& limits)
{
    const auto read = [&json](const char* key, auto& value) {
        const std::int64_t given = integerOr(json, key, static_cast<std::int64_t>(value));
        if (given > 0)
            value = static_cast<std::remove_reference_t<decltype(value)>>(given);
        return given > 0;
    };
    const bool good = read("body_bytes", limits.bodyBytes) && read("header_bytes", limits.headerBytes)
        && read("result_bytes", limits.resultBytes) && read("output_bytes", limits.outputBytes)
        && read("tensor_bytes", limits.tensorBytes) && read("device_cache_bytes", limits.deviceCacheBytes)
        && read("spool_bytes", limits.spoolBytes) && read("connections", limits.connections)
        && read("calls", limits.calls) && read("header_ms", limits.headerMs) && read("body_ms", limits.bodyMs)
        && read("idle_ms", limits.idleMs) && read("grace_ms", limits.graceMs);
    return good ? Status() : fail("config.limits", "every limit must be a positive number");
}

Status checkPaths(const HostConfig& config)
{
    const bool packageNeeded = config.workerVia.empty();
    if (!config.interface.is_absolute() || (packageNeeded && !config.workerPackage.is_absolute())
        || !config.dataFolder.is_absolute())
        return fail("config.paths", "interface, worker_package and data_folder must be absolute paths");
    if (!isId(config.id) || !isId(config.run))
        return fail("config.id", "id and run must be UUIDs");
    return {};
}

} // namespace

Json Caller::toJson() const
{
    return {{"kind", kind}, {"name", name}, {"token", token}};
}

Json HostLimits::forWorker() const
{
    return {{"result_bytes", resultBytes}, {"output_bytes", outputBytes},
        {"device_cache_bytes", deviceCacheBytes}};
}

Result<HostConfig> HostConfig::fromJson(const Json& json)
{
    if (!json.is_object())
        return fail("config.syntax", "the configuration must be an object");
    HostConfig config;
    config.id = stringOr(json, "id", newId());
    config.run = stringOr(json, "run", newId());
    config.interface = stringOr(json, "interface");
    config.name = stringOr(json, "name", config.interface.stem().string());
    config.python = stringOr(json, "python", "python3");
    config.workerPackage = stringOr(json, "worker_package");
    config.dataFolder = stringOr(json, "data_folder");
    const Json via = objectOr(json, "worker_via");
    config.workerVia = stringOr(via, "control");
    config.python = stringOr(via, "python", config.python);
    config.port = static_cast<int>(integerOr(json, "port"));
    config.socket = stringOr(json, "socket");
    config.compat = boolOr(json, "compat");
    config.watch = boolOr(json, "watch");
    config.showPaths = boolOr(json, "show_paths");
    config.env = objectOr(json, "env");
    if (const auto models = json.find("models"); models != json.end() && models->is_array())
        config.models = *models;
    for (const Json& hidden : json.value("conceal", Json::array())) {
        if (const std::string name = stringOr(hidden, "name"); !name.empty())
            config.concealer.add(name, stringOr(hidden, "alias"));
    }
    if (const auto origins = json.find("origins"); origins != json.end() && origins->is_array()) {
        for (const Json& origin : *origins)
            config.origins.push_back(origin.is_string() ? origin.get<std::string>() : std::string());
    }
    const Json caller = objectOr(json, "caller");
    config.caller.kind = stringOr(caller, "kind", config.caller.kind);
    config.caller.name = stringOr(caller, "name", config.caller.name);
    if (config.port < 0 || config.port > 65535)
        return fail("config.port", "port must lie between 0 and 65535");
    GB_TRY(readLimits(objectOr(json, "limits"), config.limits));
    GB_TRY(checkPaths(config));
    return config;
}

} // namespace gb::rpc
