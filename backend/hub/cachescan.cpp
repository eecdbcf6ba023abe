// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "cachescan.h"

#include <algorithm>
#include <map>
#include <set>

#include <sys/stat.h>

#include <backend/base/json.h>

#include "plan.h"

namespace gb::hub {
namespace {

std::int64_t toMs(const timespec& time)
{
    return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

std::string repoOf(std::string_view folder)
{
    std::string repo(folder.substr(std::string_view("models--").size()));
    for (auto at = repo.find("--"); at != std::string::npos; at = repo.find("--", at + 1))
        repo.replace(at, 2, "/");
    return repo;
}

// Calls `visit` for every file below the folder, links not followed; a tree that changes meanwhile is no
// error.
void eachFile(const fs::path& folder, const std::function<void(const fs::path&, const struct stat&)>& visit)
{
    std::error_code error;
    auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
        struct stat info
        { };
        if (::lstat(it->path().c_str(), &info) == 0 && !S_ISDIR(info.st_mode))
            visit(it->path(), info);
    }
}

CachedRevision scanRevision(const fs::path& folder)
{
    CachedRevision revision;
    revision.commit = folder.filename();
    std::set<std::string> counted;
    eachFile(folder, [&](const fs::path& path, const struct stat& info) {
        CachedFile file{path.lexically_relative(folder).generic_string(), {}, 0};
        struct stat target
        { };
        if (::stat(path.c_str(), &target) != 0) {
            revision.broken.push_back(file.path);
            return;
        }
        file.size = static_cast<std::uint64_t>(target.st_size);
        std::error_code ignored;
        if (S_ISLNK(info.st_mode))
            file.blob = fs::read_symlink(path, ignored).filename();
        if (counted.insert(file.blob.empty() ? file.path : file.blob).second)
            revision.bytes += file.size;
        revision.files.push_back(std::move(file));
    });
    std::ranges::sort(revision.files, {}, &CachedFile::path);
    return revision;
}

void findMissing(const HubCache& cache, const std::string& repo, CachedRevision& revision)
{
    const auto listing = cache.readTree(repo, revision.commit);
    revision.isListed = listing.has_value();
    if (!listing)
        return;
    std::map<std::string, std::uint64_t> there;
    for (const CachedFile& file : revision.files)
        there[file.path] = file.size;
    for (const RemoteFile& file : choose(*listing, {})) {
        const auto it = there.find(file.path);
        if (it == there.end() || it->second != file.size)
            revision.missing.push_back(file.path);
    }
}

void readRefs(const fs::path& folder, std::vector<CachedRevision>& revisions)
{
    eachFile(folder, [&](const fs::path& path, const struct stat&) {
        const auto commit = readFile(path, 100);
        const auto it =
            std::ranges::find(revisions, commit ? *commit : std::string(), &CachedRevision::commit);
        if (it != revisions.end())
            it->refs.push_back(path.lexically_relative(folder).generic_string());
    });
}

void scanBlobs(CachedModel& model)
{
    std::set<std::string> used;
    for (const CachedRevision& revision : model.revisions) {
        for (const CachedFile& file : revision.files)
            used.insert(file.blob);
    }
    eachFile(model.folder, [&](const fs::path& path, const struct stat& info) {
        const auto allocated = static_cast<std::uint64_t>(info.st_blocks) * 512;
        model.bytesOnDisk += allocated;
        if (path.parent_path().filename() != "blobs" || path.parent_path().parent_path() != model.folder)
            return;
        model.lastUsedMs = std::max(model.lastUsedMs, toMs(info.st_atim));
        model.lastModifiedMs = std::max(model.lastModifiedMs, toMs(info.st_mtim));
        const std::string name = path.filename();
        const LooseBlob loose{path, static_cast<std::uint64_t>(info.st_size), allocated};
        if (name.ends_with(".incomplete"))
            model.partials.push_back(loose);
        else if (!name.ends_with(".glovebox.pieces") && !used.contains(name))
            model.orphans.push_back(loose);
    });
}

Json looseJson(const std::vector<LooseBlob>& blobs)
{
    Json list = Json::array();
    for (const LooseBlob& blob : blobs)
        list.push_back(Json{
            {"name", blob.path.filename().string()}, {"size", blob.size}, {"allocated", blob.allocated}});
    return list;
}

} // namespace

Json CachedModel::toJson() const
{
    Json list = Json::array();
    for (const CachedRevision& revision : revisions) {
        Json files = Json::array();
        for (const CachedFile& file : revision.files)
            files.push_back(Json{{"path", file.path}, {"size", file.size}, {"blob", file.blob}});
        list.push_back(Json{{"commit", revision.commit}, {"refs", revision.refs}, {"bytes", revision.bytes},
            {"complete", revision.isComplete()}, {"listed", revision.isListed}, {"missing", revision.missing},
            {"broken", revision.broken}, {"files", std::move(files)}});
    }
    return Json{{"repo", repo}, {"bytes", bytesOnDisk}, {"last_used", lastUsedMs},
        {"last_modified", lastModifiedMs}, {"revisions", std::move(list)}, {"orphans", looseJson(orphans)},
        {"partials", looseJson(partials)}};
}

Result<CachedModel> scanModel(const HubCache& cache, const std::string& repo)
{
    CachedModel model;
    model.repo = repo;
    model.folder = cache.repoFolder(repo);
    std::error_code error;
    if (!fs::is_directory(model.folder, error))
        return fail("hub.not_cached", repo + " is not in the cache", Json{{"repo", repo}});
    for (const auto& entry : fs::directory_iterator(model.folder / "snapshots", error)) {
        if (entry.is_directory(error))
            model.revisions.push_back(scanRevision(entry.path()));
    }
    std::ranges::sort(model.revisions, {}, &CachedRevision::commit);
    readRefs(model.folder / "refs", model.revisions);
    for (CachedRevision& revision : model.revisions)
        findMissing(cache, repo, revision);
    scanBlobs(model);
    return model;
}

Result<std::vector<CachedModel>> scanCache(const HubCache& cache)
{
    std::vector<CachedModel> models;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(cache.folder(), error)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("models--") || !entry.is_directory(error))
            continue;
        const auto parsed = ModelName::parse(repoOf(name));
        if (!parsed)
            continue;
        if (auto model = scanModel(cache, parsed->repo))
            models.push_back(std::move(*model));
    }
    std::ranges::sort(models, {}, &CachedModel::repo);
    return models;
}

} // namespace gb::hub
