// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "modelqueries.h"

#include <algorithm>
#include <map>
#include <set>

#include <sys/statvfs.h>

#include <backend/base/json.h>
#include <backend/hub/safetensors.h>

namespace gb {
namespace {

constexpr std::uint64_t longestConfig = 4U << 20U;
constexpr std::size_t mostTensors = 50'000; // an answer stays below one frame

std::uint64_t freeBytes(fs::path folder)
{
    std::error_code error;
    while (!fs::exists(folder, error) && folder.has_relative_path())
        folder = folder.parent_path();
    struct statvfs info
    { };
    return ::statvfs(folder.c_str(), &info) == 0 ? std::uint64_t{info.f_bavail} * info.f_frsize : 0;
}

// Where the bytes of a model's files come from: the snapshot if it has them, else the hub.
class Source
{
public:
    Source(const hub::HubSettings& settings, const hub::HubClient& client, hub::ModelInfo model)
        : m_cache(settings.cache), m_client(client), m_model(std::move(model)), m_offline(settings.offline)
    { }

    bool isCached(const hub::RemoteFile& file) const
    {
        return m_cache.isLinked(m_model.repo, m_model.commit, file);
    }
    Result<std::string> text(const hub::RemoteFile& file) const
    {
        if (isCached(file))
            return readFile(path(file), longestConfig);
        return m_client.read(m_model, file, 0, file.size);
    }
    Result<hub::TensorFile> tensors(const hub::RemoteFile& file) const
    {
        if (isCached(file))
            return hub::readSafetensors(path(file));
        return hub::readSafetensors(m_client, m_model, file);
    }
    bool canRead(const hub::RemoteFile& file) const { return isCached(file) || !m_offline; }

private:
    fs::path path(const hub::RemoteFile& file) const
    {
        return m_cache.snapshot(m_model.repo, m_model.commit) / file.path;
    }

    hub::HubCache m_cache;
    const hub::HubClient& m_client;
    hub::ModelInfo m_model;
    bool m_offline;
};

void addConfig(Json& answer, const Source& source, const std::vector<hub::RemoteFile>& listing)
{
    for (const char* name : {"config.json", "adapter_config.json"}) {
        const auto file = std::ranges::find(listing, std::string(name), &hub::RemoteFile::path);
        if (file == listing.end() || file->size > longestConfig || !source.canRead(*file))
            continue;
        const auto text = source.text(*file);
        const auto json = text ? parseJson(*text) : Result<Json>(fail(text.error()));
        if (!json) {
            answer["problems"].push_back(json.error().toJson());
            continue;
        }
        answer[std::string(name) == "config.json" ? "config" : "adapter_config"] = *json;
        if (const std::string base = stringOr(*json, "base_model_name_or_path"); !base.empty())
            answer["base"] = base;
    }
}

void addTensors(Json& answer, const Source& source, const std::vector<hub::RemoteFile>& chosen)
{
    std::map<std::string, std::uint64_t> byType;
    std::uint64_t parameters = 0;
    std::size_t shown = 0;
    Json files = Json::object();
    for (const hub::RemoteFile& file : chosen) {
        if (!file.path.ends_with(".safetensors") || !source.canRead(file))
            continue;
        const auto tensors = source.tensors(file);
        if (!tensors) {
            answer["problems"].push_back(tensors.error().toJson());
            continue;
        }
        parameters += tensors->parameters;
        for (const hub::Tensor& tensor : tensors->tensors)
            byType[tensor.dtype] += tensor.parameters();
        shown += tensors->tensors.size();
        if (shown <= mostTensors)
            files[file.path] = tensors->toJson()["tensors"];
    }
    if (!files.empty() || shown > 0)
        answer["tensors"] = Json{{"parameters", parameters}, {"by_dtype", byType},
            {"cut", shown > mostTensors}, {"files", std::move(files)}};
}

Json filesJson(const Source& source, const std::vector<hub::RemoteFile>& listing,
    const std::vector<hub::RemoteFile>& chosen)
{
    std::set<std::string> wanted;
    for (const hub::RemoteFile& file : chosen)
        wanted.insert(file.path);
    Json files = Json::array();
    for (const hub::RemoteFile& file : listing)
        files.push_back(Json{{"path", file.path}, {"size", file.size}, {"chosen", wanted.contains(file.path)},
            {"cached", source.isCached(file)}});
    return files;
}

// The commit and the listing: from the hub, or without the network from what the cache remembers.
Result<hub::Plan> lookUp(
    const hub::HubSettings& settings, const hub::HubClient& client, const hub::ModelName& name)
{
    if (!settings.offline) {
        auto model = client.resolve(name);
        if (!model)
            return fail(model.error());
        auto listing = client.tree(*model);
        if (!listing)
            return fail(listing.error());
        return hub::Plan{std::move(*model), std::move(*listing), {}, 0};
    }
    const hub::HubCache cache(settings.cache);
    const auto commit = cache.readRef(name.repo, name.revision);
    auto listing = commit ? cache.readTree(name.repo, *commit) : std::nullopt;
    if (!listing)
        return fail(
            "hub.offline", "HF_HUB_OFFLINE forbids the network, and the cache does not know " + name.repo);
    return hub::Plan{{name.repo, name.revision, *commit, {}}, std::move(*listing), {}, 0};
}

} // namespace

Result<Json> listModels(const hub::HubSettings& settings)
{
    const auto models = hub::scanCache(hub::HubCache(settings.cache));
    if (!models)
        return fail(models.error());
    Json list = Json::array();
    std::uint64_t bytes = 0;
    for (const hub::CachedModel& model : *models) {
        bytes += model.bytesOnDisk;
        list.push_back(model.toJson());
    }
    return Json{{"cache", settings.cache.string()}, {"bytes", bytes}, {"free", freeBytes(settings.cache)},
        {"models", std::move(list)}};
}

Result<Json> showModel(
    const hub::HubSettings& settings, const hub::ModelName& name, const transfer::CancelFlag& cancel)
{
    transfer::Downloader downloader(settings.network);
    const hub::HubClient client(downloader, settings, {.attempts = 3, .baseMs = 500, .capMs = 2000}, cancel);
    const auto plan = lookUp(settings, client, name);
    if (!plan)
        return fail(plan.error());
    const hub::ModelInfo& model = plan->model;
    const std::vector<hub::RemoteFile> chosen = hub::choose(plan->listing, {});
    const Source source(settings, client, model);
    std::uint64_t bytes = 0;
    for (const hub::RemoteFile& file : chosen)
        bytes += file.size;
    Json answer{{"repo", model.repo}, {"revision", model.revision}, {"commit", model.commit},
        {"source", settings.offline ? "cache" : "hub"}, {"gated", model.gated},
        {"page", client.pageUrl(model.repo)}, {"bytes", bytes}, {"problems", Json::array()},
        {"files", filesJson(source, plan->listing, chosen)}};
    addConfig(answer, source, plan->listing);
    addTensors(answer, source, chosen);
    return answer;
}

Result<Json> verifyModels(const hub::HubSettings& settings, const hub::ModelName& name, bool repair,
    const std::function<void(std::uint64_t, std::uint64_t)>& onProgress, const transfer::CancelFlag& cancel)
{
    const hub::HubCache cache(settings.cache);
    const auto commit = cache.readRef(name.repo, name.revision);
    const auto model = hub::scanModel(cache, name.repo);
    if (!model)
        return fail(model.error());
    const auto revision =
        std::ranges::find(model->revisions, commit.value_or(std::string()), &hub::CachedRevision::commit);
    if (revision == model->revisions.end())
        return fail("hub.not_cached", name.repo + " is not in the cache at " + name.revision);
    const auto show = [&](std::uint64_t bytes) {
        if (onProgress)
            onProgress(bytes, revision->bytes);
    };
    const auto proof = hub::verifyModel(cache, name.repo, *commit, show, cancel);
    if (!proof)
        return fail(proof.error());
    if (repair) {
        for (const hub::CachedFile& file : revision->files) {
            if (!std::ranges::count(proof->bad, file.path))
                continue;
            std::error_code error;
            fs::remove(cache.snapshot(name.repo, *commit) / file.path, error);
            if (!file.blob.empty())
                fs::remove(cache.blob(name.repo, file.blob), error);
        }
    }
    return Json{{"repo", name.repo}, {"commit", *commit}, {"files", proof->files}, {"bytes", proof->bytes},
        {"bad", proof->bad}, {"missing", proof->missing}};
}

Result<Json> removeModels(
    const hub::HubSettings& settings, const std::string& repo, const std::string& revision, bool looseOnly)
{
    const hub::HubCache cache(settings.cache);
    const auto removed = looseOnly ? hub::removeLoose(cache, repo) : hub::removeModel(cache, repo, revision);
    if (!removed)
        return fail(removed.error());
    return Json{{"freed", removed->freed}, {"commits", removed->commits}};
}

} // namespace gb
