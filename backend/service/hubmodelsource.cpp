// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hubmodelsource.h"

#include <algorithm>

#include <backend/hub/cachescan.h>
#include <backend/hub/modelname.h>
#include <backend/models/downloadrun.h>

#include "modelwaits.h"

namespace gb::service {
namespace {

using namespace std::chrono_literals;

constexpr int patienceMs = 4'000; // a person looks at the plan
constexpr auto knownFor = 60s;
constexpr auto awayFor = 10s; // not asked again for the next model, which would wait as long

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

// Whom asking again would not help.
bool isFinalAnswer(const Error& error)
{
    return error.code.starts_with("hub.") && error.code != "hub.unavailable"
        && error.code != "hub.rate_limited" && error.code != "hub.bad_answer";
}

std::string fixFor(const Error& error)
{
    if (error.code == "hub.gated")
        return "ask for access on that page with the account of your HF_TOKEN, then start again";
    if (error.code == "hub.offline")
        return "unset HF_HUB_OFFLINE, or name a folder as path";
    if (error.code == "hub.bad_token")
        return "correct HF_TOKEN";
    if (error.code == "hub.model_not_found")
        return "correct the name, or set HF_TOKEN if it is private";
    if (error.code == "io.disk_full")
        return "free some space, or let the settings keep less of it free";
    if (error.code == "hub.renamed")
        return "write the new name";
    return "look at the Models page, or name a folder as path";
}

// For the field it is about, and with a way out.
Error forField(Error error, const std::string& model)
{
    if (!error.data.is_object())
        error.data = Json::object();
    error.data["field"] = "models";
    error.data["model"] = model;
    if (!error.data.contains("fix"))
        error.data["fix"] = fixFor(error);
    if (error.code != "hub.gated" && error.code != "hub.forbidden")
        error.data.erase("page"); // nothing can be done there
    return error;
}

Error renamed(const std::string& asked, const std::string& now)
{
    return {"hub.renamed", asked + " is called " + now + " on the hub", Json{{"repo", now}}};
}

DownloadSpec downloadOf(const hub::ModelName& name, hub::HubSettings settings)
{
    DownloadSpec spec;
    spec.model = name;
    spec.hub = std::move(settings);
    return spec;
}

} // namespace

hub::HubSettings hubSettingsFrom(
    const std::map<std::string, std::string>& environment, const std::string& storedToken)
{
    return hub::HubSettings::fromEnvironment([&](std::string_view name) {
        const auto found = environment.find(std::string(name));
        if (found != environment.end())
            return found->second;
        // The older of the two names is asked for when the other is not set.
        return name == "HUGGING_FACE_HUB_TOKEN" ? storedToken : std::string();
    });
}

void HubModelSource::setStoredToken(std::string token)
{
    const std::lock_guard lock(m_mutex);
    m_storedToken = std::move(token);
}

hub::HubSettings HubModelSource::settingsFor(const std::map<std::string, std::string>& environment) const
{
    const std::lock_guard lock(m_mutex);
    return hubSettingsFrom(environment, m_storedToken);
}

ModelSource::Missing HubModelSource::lookUp(
    const std::string& model, const std::map<std::string, std::string>& environment)
{
    const auto name = hub::ModelName::parse(model);
    if (!name)
        return {{}, forField(name.error(), model)};
    const hub::HubSettings settings = settingsFor(environment);
    if (settings.offline)
        return {{},
            forField(
                {"hub.offline", model + " is not on this machine, and HF_HUB_OFFLINE forbids to fetch it"},
                model)};
    const std::string key =
        settings.endpoint + "\n" + settings.cache.string() + "\n" + settings.token + "\n" + model;
    const auto now = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_known, [&](const auto& known) { return now - known.second.at > knownFor; });
        if (const auto known = m_known.find(key); known != m_known.end())
            return {known->second.bytes, {}};
        if (const auto away = m_away.find(settings.endpoint);
            away != m_away.end() && now - away->second < awayFor)
            return {};
    }
    const auto bytes = estimateDownload(downloadOf(*name, settings), patienceMs);
    if (!bytes && isFinalAnswer(bytes.error()))
        return {{}, forField(bytes.error(), model)};
    if (!bytes) {
        const std::lock_guard lock(m_mutex);
        m_away[settings.endpoint] = std::chrono::steady_clock::now();
        return {};
    }
    if (!bytes->contains(name->repo))
        return {{}, forField(renamed(model, bytes->begin()->first), model)};
    const std::lock_guard lock(m_mutex);
    m_known[key] = {now, *bytes};
    return {*bytes, {}};
}

Status HubModelSource::fetch(const std::string& model, const std::map<std::string, std::string>& environment,
    const std::function<void(const ModelProgress&)>& onProgress, const std::function<bool()>& isCancelled)
{
    const auto name = hub::ModelName::parse(model);
    ModelWaits* const waits = m_waits;
    if (!name || !waits)
        return name ? fail("sandbox.model_missing", model + " is not on this machine") : fail(name.error());
    const Status fetched = waits->fetch(downloadOf(*name, settingsFor(environment)), onProgress, isCancelled);
    {
        const std::lock_guard lock(m_mutex);
        m_known.clear(); // what is still to come has changed
    }
    if (!fetched)
        return fail(fetched.error().code == "cancelled" ? fetched.error() : forField(fetched.error(), model));
    return {};
}

Result<std::vector<ModelSource::File>> HubModelSource::files(
    const std::string& model, const std::map<std::string, std::string>& environment)
{
    const auto name = hub::ModelName::parse(model);
    if (!name)
        return fail(name.error());
    const hub::HubCache cache(settingsFor(environment).cache);
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
            return std::vector<File>(); // a download mends it
        files.push_back({file.path, real});
    }
    return files;
}

std::vector<LocalModel> HubModelSource::list(const std::map<std::string, std::string>& environment)
{
    std::vector<LocalModel> models;
    const auto all = hub::scanCache(hub::HubCache(settingsFor(environment).cache));
    if (!all)
        return models;
    for (const hub::CachedModel& model : *all) {
        if (std::ranges::any_of(model.revisions, isUsable))
            models.push_back({model.repo, model.folder});
    }
    return models;
}

} // namespace gb::service
