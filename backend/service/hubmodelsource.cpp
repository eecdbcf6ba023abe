// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hubmodelsource.h"

#include <algorithm>

#include <backend/hub/cachescan.h>
#include <backend/hub/hubsettings.h>
#include <backend/hub/modelname.h>

namespace gb::service {
namespace {

hub::HubCache cacheOf(const std::map<std::string, std::string>& environment)
{
    const auto variable = [&](const auto& name) {
        const auto found = environment.find(std::string(name));
        return found == environment.end() ? std::string() : found->second;
    };
    return hub::HubCache(hub::HubSettings::fromEnvironment(variable).cache);
}

// The revision that is asked for, by reference or commit.
const hub::CachedRevision* revisionOf(const hub::CachedModel& model, const std::string& wanted)
{
    for (const hub::CachedRevision& revision : model.revisions) {
        if (revision.commit == wanted || std::ranges::find(revision.refs, wanted) != revision.refs.end())
            return &revision;
    }
    return nullptr;
}

bool isUsable(const hub::CachedRevision& revision)
{
    return revision.broken.empty() && revision.missing.empty() && !revision.files.empty();
}

} // namespace

Result<std::vector<ModelSource::File>> HubModelSource::files(
    const std::string& model, const std::map<std::string, std::string>& environment)
{
    const auto name = hub::ModelName::parse(model);
    if (!name)
        return fail(name.error());
    const hub::HubCache cache = cacheOf(environment);
    const auto cached = hub::scanModel(cache, name->repo);
    if (!cached)
        return fail(cached.error());
    const hub::CachedRevision* revision = revisionOf(*cached, name->revision);
    std::vector<File> files;
    if (!revision || !isUsable(*revision))
        return files;
    for (const hub::CachedFile& file : revision->files) {
        std::error_code error;
        // Followed here, once: what is bound is the blob itself.
        const fs::path real = fs::canonical(cache.snapshot(name->repo, revision->commit) / file.path, error);
        if (error)
            return fail("sandbox.model_missing", model + " has a file that is gone: " + file.path);
        files.push_back({file.path, real});
    }
    return files;
}

std::vector<LocalModel> HubModelSource::list(const std::map<std::string, std::string>& environment)
{
    std::vector<LocalModel> models;
    const auto all = hub::scanCache(cacheOf(environment));
    if (!all)
        return models;
    for (const hub::CachedModel& model : *all) {
        if (std::ranges::any_of(model.revisions, isUsable))
            models.push_back({model.repo, model.folder});
    }
    return models;
}

} // namespace gb::service
