// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>

#include "cachescan.h"

namespace gb::hub {
namespace {

// What the disk gets back when the file goes: nothing while another name of it stays.
std::uint64_t freedBy(const fs::path& path)
{
    struct stat info
    { };
    if (::lstat(path.c_str(), &info) != 0 || info.st_nlink > 1)
        return 0;
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

Status removeFile(const fs::path& path, Removal& removal)
{
    const std::uint64_t freed = freedBy(path);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return failErrno("cannot delete", path.string(), errno);
    removal.freed += freed;
    return {};
}

std::string etagOf(const fs::path& blob)
{
    const std::string name = blob.filename();
    return name.substr(0, name.find('.'));
}

Status refuseIfBusy(const HubCache& cache, const CachedModel& model)
{
    for (const LooseBlob& partial : model.partials) {
        const auto lock = cache.tryLock(model.repo, etagOf(partial.path));
        if (lock && !*lock)
            return fail("hub.busy", model.repo + " is being downloaded", Json{{"repo", model.repo}});
    }
    return {};
}

std::uint64_t bytesBelow(const fs::path& folder)
{
    std::uint64_t bytes = freedBy(folder);
    std::error_code error;
    auto it = fs::recursive_directory_iterator(folder, error);
    for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error))
        bytes += freedBy(it->path());
    return bytes;
}

Result<Removal> removeAll(const HubCache& cache, const CachedModel& model)
{
    Removal removal;
    for (const CachedRevision& revision : model.revisions)
        removal.commits.push_back(revision.commit);
    removal.freed = bytesBelow(model.folder);
    // Out of sight in one step: a reader finds the model whole or not at all.
    const fs::path dying = cache.folder() / (".removed." + model.folder.filename().string());
    std::error_code error;
    fs::remove_all(dying, error);
    fs::rename(model.folder, dying, error);
    if (!error)
        fs::remove_all(dying, error);
    if (error)
        return failErrno("cannot delete", model.folder.string(), error.value());
    fs::remove_all(cache.folder() / ".locks" / model.folder.filename(), error);
    return removal;
}

Status hashFile(const fs::path& path, transfer::Digest& digest, std::uint64_t& bytes,
    const std::function<void(std::uint64_t)>& onProgress, const transfer::CancelFlag& cancel)
{
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid())
        return failErrno("cannot open", path.string(), errno);
    std::string buffer(1U << 20U, '\0');
    for (;;) {
        if (cancel && *cancel)
            return fail("cancelled", "cancelled");
        const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failErrno("cannot read", path.string(), errno);
        if (n == 0)
            return {};
        digest.add({buffer.data(), static_cast<std::size_t>(n)});
        bytes += static_cast<std::uint64_t>(n);
        if (onProgress)
            onProgress(bytes);
    }
}

} // namespace

Result<Removal> removeModel(const HubCache& cache, const std::string& repo, const std::string& revision)
{
    const auto model = scanModel(cache, repo);
    if (!model)
        return fail(model.error());
    GB_TRY(refuseIfBusy(cache, *model));
    if (revision.empty())
        return removeAll(cache, *model);
    const auto commit = cache.readRef(repo, revision);
    const auto gone = std::ranges::find(model->revisions, commit.value_or(revision), &CachedRevision::commit);
    if (gone == model->revisions.end())
        return fail("hub.not_cached", repo + " is not in the cache at " + revision, Json{{"repo", repo}});
    if (model->revisions.size() == 1)
        return removeAll(cache, *model);
    std::set<std::string> stillUsed;
    for (const CachedRevision& other : model->revisions) {
        for (const CachedFile& file : other.files) {
            if (other.commit != gone->commit)
                stillUsed.insert(file.blob);
        }
    }
    Removal removal{.freed = 0, .commits = {gone->commit}};
    for (const std::string& ref : gone->refs)
        GB_TRY(removeFile(model->folder / "refs" / ref, removal));
    std::error_code error;
    fs::remove_all(cache.snapshot(repo, gone->commit), error);
    fs::remove_all(model->folder / ".no_exist" / gone->commit, error);
    GB_TRY(removeFile(model->folder / "trees" / (gone->commit + ".json"), removal));
    for (const CachedFile& file : gone->files) {
        if (!file.blob.empty() && !stillUsed.contains(file.blob))
            GB_TRY(removeFile(cache.blob(repo, file.blob), removal));
    }
    return removal;
}

Result<Removal> removeLoose(const HubCache& cache, const std::string& repo)
{
    const auto model = scanModel(cache, repo);
    if (!model)
        return fail(model.error());
    Removal removal;
    std::vector<LooseBlob> loose = model->orphans;
    loose.insert(loose.end(), model->partials.begin(), model->partials.end());
    for (const LooseBlob& blob : loose) {
        const auto lock = cache.tryLock(repo, etagOf(blob.path));
        if (!lock)
            return fail(lock.error());
        if (!*lock)
            continue;
        GB_TRY(removeFile(blob.path, removal));
        if (blob.path.string().ends_with(".glovebox.incomplete"))
            GB_TRY(removeFile(cache.pieces(repo, etagOf(blob.path)), removal));
    }
    return removal;
}

Result<Verification> verifyModel(const HubCache& cache, const std::string& repo, const std::string& commit,
    const std::function<void(std::uint64_t)>& onProgress, const transfer::CancelFlag& cancel)
{
    const auto model = scanModel(cache, repo);
    if (!model)
        return fail(model.error());
    const auto revision = std::ranges::find(model->revisions, commit, &CachedRevision::commit);
    if (revision == model->revisions.end())
        return fail("hub.not_cached", repo + " is not in the cache at " + commit, Json{{"repo", repo}});
    Verification result;
    result.missing = revision->missing;
    result.missing.insert(result.missing.end(), revision->broken.begin(), revision->broken.end());
    std::map<std::string, std::string> expected; // by path, for files that are no links
    if (const auto listing = cache.readTree(repo, commit)) {
        for (const RemoteFile& file : *listing)
            expected[file.path] = file.etag();
    }
    std::map<std::string, bool> known; // by hash
    for (const CachedFile& file : revision->files) {
        const std::string etag = file.blob.empty() ? expected[file.path] : file.blob;
        const bool isLfs = transfer::isHex(etag, 64);
        if (!isLfs && !transfer::isHex(etag, 40))
            continue; // nothing to compare with
        ++result.files;
        if (!known.contains(etag)) {
            transfer::Digest digest(
                isLfs ? transfer::Digest::Kind::Sha256 : transfer::Digest::Kind::GitBlob, file.size);
            GB_TRY(
                hashFile(cache.snapshot(repo, commit) / file.path, digest, result.bytes, onProgress, cancel));
            known[etag] = digest.hex() == etag;
        }
        if (!known[etag])
            result.bad.push_back(file.path);
    }
    return result;
}

} // namespace gb::hub
