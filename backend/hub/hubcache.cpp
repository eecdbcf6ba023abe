// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hubcache.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <backend/base/ids.h>
#include <backend/base/json.h>

namespace gb::hub {
namespace {

Status makeFolders(const fs::path& folder)
{
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return failErrno("cannot create folder", folder.string(), error.value());
    return {};
}

void syncFolder(const fs::path& folder)
{
    const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.valid())
        ::fsync(fd.get());
}

// From snapshots/<commit>/<path> up to the repository's folder.
fs::path relativeBlob(const std::string& path, const std::string& etag)
{
    fs::path up = "../..";
    for (const char c : path) {
        if (c == '/')
            up /= "..";
    }
    return up / "blobs" / etag;
}

constexpr const char* cacheTag = "Signature: 8a477f597d28d172789f06886806bc55\n"
                                 "# This file is a cache directory tag created by huggingface_hub.\n"
                                 "# For information about cache directory tags, see:\n"
                                 "#\thttps://bford.info/cachedir/\n";

} // namespace

fs::path HubCache::blob(const std::string& repo, const std::string& etag) const
{
    return repoFolder(repo) / "blobs" / etag;
}

fs::path HubCache::partial(const std::string& repo, const std::string& etag) const
{
    return repoFolder(repo) / "blobs" / (etag + ".glovebox.incomplete");
}

fs::path HubCache::pieces(const std::string& repo, const std::string& etag) const
{
    return repoFolder(repo) / "blobs" / (etag + ".glovebox.pieces");
}

fs::path HubCache::snapshot(const std::string& repo, const std::string& commit) const
{
    return repoFolder(repo) / "snapshots" / commit;
}

Status HubCache::prepare(const std::string& repo) const
{
    for (const char* part : {"blobs", "snapshots", "refs"})
        GB_TRY(makeFolders(repoFolder(repo) / part));
    GB_TRY(makeFolders(m_folder / ".locks" / cacheFolderName(repo)));
    if (const fs::path tag = m_folder / "CACHEDIR.TAG"; !fs::exists(tag))
        GB_TRY(writeFileAtomic(tag, cacheTag));
    return {};
}

Result<std::optional<UniqueFd>> HubCache::tryLock(const std::string& repo, const std::string& etag) const
{
    const fs::path path = m_folder / ".locks" / cacheFolderName(repo) / (etag + ".lock");
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!fd.valid())
        return failErrno("cannot open", path.string(), errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
        return std::optional<UniqueFd>();
    // A holder that deletes the file when it is done leaves us with the lock of a file nobody else will see.
    struct stat held
    { };
    struct stat there
    { };
    if (::fstat(fd.get(), &held) != 0 || ::stat(path.c_str(), &there) != 0 || held.st_ino != there.st_ino)
        return std::optional<UniqueFd>();
    return std::optional<UniqueFd>(std::move(fd));
}

bool HubCache::hasBlob(const std::string& repo, const RemoteFile& file) const
{
    struct stat info
    { };
    return ::stat(blob(repo, file.etag()).c_str(), &info) == 0 && S_ISREG(info.st_mode)
        && static_cast<std::uint64_t>(info.st_size) == file.size;
}

Status HubCache::publishBlob(const std::string& repo, const std::string& etag) const
{
    const fs::path target = blob(repo, etag);
    if (::rename(partial(repo, etag).c_str(), target.c_str()) != 0)
        return failErrno("cannot publish", target.string(), errno);
    syncFolder(target.parent_path());
    ::unlink(pieces(repo, etag).c_str());
    return {};
}

Status HubCache::link(const std::string& repo, const std::string& commit, const RemoteFile& file) const
{
    GB_TRY(checkPath(file.path));
    const fs::path target = snapshot(repo, commit) / file.path;
    GB_TRY(makeFolders(target.parent_path()));
    const fs::path temporary = repoFolder(repo) / "blobs" / (".link." + newId());
    if (::symlink(relativeBlob(file.path, file.etag()).c_str(), temporary.c_str()) != 0)
        return failErrno("cannot link", target.string(), errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0) {
        const int number = errno;
        ::unlink(temporary.c_str());
        return failErrno("cannot link", target.string(), number);
    }
    return {};
}

bool HubCache::isLinked(const std::string& repo, const std::string& commit, const RemoteFile& file) const
{
    struct stat info
    { };
    return ::stat((snapshot(repo, commit) / file.path).c_str(), &info) == 0 && S_ISREG(info.st_mode)
        && static_cast<std::uint64_t>(info.st_size) == file.size;
}

Status HubCache::writeRef(
    const std::string& repo, const std::string& revision, const std::string& commit) const
{
    if (isCommit(revision) || readRef(repo, revision) == commit)
        return {};
    GB_TRY(checkPath(revision));
    const fs::path path = repoFolder(repo) / "refs" / revision;
    GB_TRY(makeFolders(path.parent_path()));
    return writeFileAtomic(path, commit);
}

std::optional<std::string> HubCache::readRef(const std::string& repo, const std::string& revision) const
{
    if (isCommit(revision))
        return revision;
    if (!checkPath(revision))
        return std::nullopt;
    auto text = readFile(repoFolder(repo) / "refs" / revision, 100);
    if (!text || !isCommit(*text))
        return std::nullopt;
    return std::move(*text);
}

Status HubCache::writeTree(
    const std::string& repo, const std::string& commit, const std::vector<RemoteFile>& files) const
{
    GB_TRY(makeFolders(repoFolder(repo) / "trees"));
    Json entries = Json::object();
    for (const RemoteFile& file : files) {
        Json entry{{"size", file.size}, {"blob_id", file.blobId}};
        if (!file.sha256.empty()) {
            entry["lfs_sha256"] = file.sha256;
            entry["lfs_size"] = file.size;
        }
        if (transfer::isHex(file.xetHash, 64))
            entry["xet_hash"] = file.xetHash;
        // Paths of a listing are unique: the look-up of [] would only cost time.
        entries.get_ref<Json::object_t&>().emplace_back(file.path, std::move(entry));
    }
    const Json tree{{"format_version", 1}, {"files", std::move(entries)}};
    return writeFileAtomic(repoFolder(repo) / "trees" / (commit + ".json"),
        tree.dump(1, ' ', false, Json::error_handler_t::replace));
}

std::optional<std::vector<RemoteFile>> HubCache::readTree(
    const std::string& repo, const std::string& commit) const
{
    const auto text = readFile(repoFolder(repo) / "trees" / (commit + ".json"), 32U << 20U);
    if (!text)
        return std::nullopt;
    const auto json = parseJson(*text, {.depth = 8, .keysPerObject = 100'000});
    if (!json || integerOr(*json, "format_version") != 1)
        return std::nullopt;
    std::vector<RemoteFile> files;
    const Json entries = objectOr(*json, "files");
    for (const auto& [path, entry] : entries.items()) {
        RemoteFile file{path, static_cast<std::uint64_t>(integerOr(entry, "size")),
            stringOr(entry, "blob_id"), stringOr(entry, "lfs_sha256"), stringOr(entry, "xet_hash")};
        if (!checkPath(path) || (!transfer::isHex(file.etag(), 40) && !transfer::isHex(file.etag(), 64)))
            return std::nullopt;
        if (!file.sha256.empty())
            file.size = static_cast<std::uint64_t>(integerOr(entry, "lfs_size", integerOr(entry, "size")));
        files.push_back(std::move(file));
    }
    return files;
}

Status HubCache::markMissing(
    const std::string& repo, const std::string& commit, const std::string& path) const
{
    GB_TRY(checkPath(path));
    const fs::path file = repoFolder(repo) / ".no_exist" / commit / path;
    GB_TRY(makeFolders(file.parent_path()));
    if (fs::exists(file))
        return {};
    return writeFileAtomic(file, "");
}

} // namespace gb::hub
