// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "downloadrun.h"

#include <algorithm>
#include <set>

#include <backend/base/json.h>
#include <backend/hub/cachescan.h>
#include <backend/hub/safetensors.h>

namespace gb {
namespace {

constexpr std::uint64_t longestAdapterConfig = 1U << 20U;

Json partJson(const DownloadPart& part)
{
    Json files = Json::array();
    for (const hub::RemoteFile& file : part.plan.files)
        files.push_back(Json{{"path", file.path}, {"size", file.size}, {"done", 0}, {"state", "waiting"}});
    const hub::ModelInfo& model = part.plan.model;
    return Json{{"role", part.role}, {"repo", model.repo}, {"revision", model.revision},
        {"commit", model.commit}, {"gated", model.gated}, {"bytes", part.plan.bytes},
        {"left_out", part.plan.leftOut()}, {"files", std::move(files)}};
}

void showFiles(Json& part, const hub::FetchProgress& progress)
{
    for (std::size_t i = 0; i < progress.files.size(); ++i) {
        part["files"][i]["done"] = progress.files[i].done;
        part["files"][i]["state"] = hub::toString(progress.files[i].state);
    }
}

// The base model's name, when the plan is an adapter's and names a model of a hub, not a folder.
Result<std::optional<hub::ModelName>> baseOf(const hub::HubClient& client, const hub::Plan& plan)
{
    const auto config =
        std::ranges::find(plan.files, std::string("adapter_config.json"), &hub::RemoteFile::path);
    if (config == plan.files.end() || config->size > longestAdapterConfig)
        return std::optional<hub::ModelName>();
    const auto text = client.read(plan.model, *config, 0, config->size);
    if (!text)
        return fail(text.error());
    const auto base = hub::adapterBase(*text);
    if (!base)
        return fail(base.error());
    auto name = hub::ModelName::parse(*base);
    if (!name)
        return std::optional<hub::ModelName>();
    return std::optional(std::move(*name));
}

// Without the network a model is ready exactly if everything it is loaded from is here.
Result<Json> fromCache(const DownloadSpec& spec)
{
    const hub::HubCache cache(spec.hub.cache);
    const auto commit = cache.readRef(spec.model.repo, spec.model.revision);
    const auto found = hub::scanModel(cache, spec.model.repo);
    if (commit && found) {
        const auto it = std::ranges::find(found->revisions, *commit, &hub::CachedRevision::commit);
        if (it != found->revisions.end() && it->isComplete())
            return Json{{"parts",
                Json::array({Json{{"role", "model"}, {"repo", spec.model.repo}, {"commit", *commit},
                    {"snapshot", cache.snapshot(spec.model.repo, *commit).string()}}})}};
    }
    return fail("hub.offline",
        "HF_HUB_OFFLINE forbids the network, and " + spec.model.repo + " is not completely in the cache");
}

} // namespace

Json DownloadSpec::toJson() const
{
    const transfer::NetworkOptions& network = hub.network;
    return Json{{"repo", model.repo}, {"revision", model.revision}, {"choice", choice.toJson()},
        {"priority", priority}, {"endpoint", hub.endpoint}, {"cache", hub.cache.string()},
        {"offline", hub.offline}, {"needs_token", !hub.token.empty()}, {"http_proxy", network.httpProxy},
        {"https_proxy", network.httpsProxy}, {"no_proxy", network.noProxy}, {"ca_file", network.caFile}};
}

Result<DownloadSpec> DownloadSpec::fromJson(const Json& json)
{
    auto name = hub::ModelName::parse(stringOr(json, "repo") + "@" + stringOr(json, "revision"));
    if (!name)
        return fail(name.error());
    DownloadSpec spec;
    spec.model = std::move(*name);
    spec.choice = hub::FileChoice::fromJson(objectOr(json, "choice"));
    spec.priority = static_cast<int>(integerOr(json, "priority"));
    spec.hub.endpoint = stringOr(json, "endpoint", spec.hub.endpoint);
    spec.hub.cache = stringOr(json, "cache");
    spec.hub.offline = boolOr(json, "offline");
    spec.hub.network = {.httpProxy = stringOr(json, "http_proxy"),
        .httpsProxy = stringOr(json, "https_proxy"),
        .noProxy = stringOr(json, "no_proxy"),
        .caFile = stringOr(json, "ca_file"),
        .userAgent = "glovebox"};
    return spec;
}

Result<std::vector<DownloadPart>> planParts(const hub::HubClient& client, const DownloadSpec& spec)
{
    std::vector<DownloadPart> parts;
    auto plan = hub::makePlan(client, spec.model, spec.choice);
    if (!plan)
        return fail(plan.error());
    const auto base = baseOf(client, *plan);
    if (!base)
        return fail(base.error());
    parts.push_back({*base ? "adapter" : "model", std::move(*plan)});
    if (*base) {
        auto basePlan = hub::makePlan(client, **base, {});
        if (!basePlan)
            return fail(basePlan.error());
        parts.push_back({"base", std::move(*basePlan)});
    }
    return parts;
}

Result<std::map<std::string, std::int64_t>> estimateDownload(const DownloadSpec& spec, int patienceMs)
{
    transfer::Downloader downloader(spec.hub.network);
    const auto late = std::make_shared<std::atomic<bool>>(false);
    downloader.engine.after(patienceMs, [late] { *late = true; });
    const hub::HubClient client(downloader, spec.hub, {.attempts = 1, .baseMs = 100, .capMs = 100}, late);
    const auto parts = planParts(client, spec);
    if (!parts && *late)
        return fail("hub.unavailable", "the hub does not answer", Json{{"repo", spec.model.repo}});
    if (!parts)
        return fail(parts.error());
    const hub::HubCache cache(spec.hub.cache);
    std::map<std::string, std::int64_t> missing;
    for (const DownloadPart& part : *parts) {
        std::int64_t& bytes = missing[part.plan.model.repo];
        std::set<std::string> contents;
        for (const hub::RemoteFile& file : part.plan.files) {
            if (contents.insert(file.etag()).second && !cache.hasBlob(part.plan.model.repo, file))
                bytes += static_cast<std::int64_t>(file.size);
        }
    }
    return missing;
}

Result<Json> runDownload(transfer::Downloader& downloader, const DownloadSpec& spec,
    const hub::FetchOptions& options, const OnDownloadProgress& onProgress,
    const transfer::CancelFlag& cancel)
{
    if (spec.hub.offline)
        return fromCache(spec);
    const hub::HubClient client(downloader, spec.hub, options.file.retry, cancel);
    auto parts = planParts(client, spec);
    if (!parts)
        return fail(parts.error());
    DownloadProgress progress;
    progress.planned = true;
    for (const DownloadPart& part : *parts) {
        progress.parts.push_back(partJson(part));
        progress.total += part.plan.bytes;
    }
    onProgress(progress);
    Json report = Json::array();
    for (std::size_t i = 0; i < parts->size(); ++i) {
        const DownloadPart& part = (*parts)[i];
        const DownloadProgress before = progress;
        const auto show = [&](const hub::FetchProgress& now) {
            showFiles(progress.parts[i], now);
            progress.done = before.done + now.done;
            progress.found = before.found + now.found;
            progress.connections = now.connections;
            progress.lastByteNs = std::max(before.lastByteNs, now.lastByteNs);
            progress.trouble = now.trouble;
            progress.verifying = now.verifying && i + 1 == parts->size();
            onProgress(progress);
        };
        const auto fetched = hub::fetchSnapshot(downloader, client, part.plan, options, show, cancel);
        if (!fetched)
            return fail(fetched.error());
        report.push_back(Json{{"role", part.role}, {"repo", part.plan.model.repo},
            {"commit", part.plan.model.commit}, {"snapshot", fetched->snapshot.string()}});
    }
    return Json{{"parts", std::move(report)}};
}

} // namespace gb
