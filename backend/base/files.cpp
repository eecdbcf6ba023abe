// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "files.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "fd.h"
#include "ids.h"

namespace gb {

Result<std::string> readFile(const fs::path& path, std::size_t limit)
{
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid())
        return failErrno("cannot open", path.string(), errno);
    struct stat info
    { };
    if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
        return fail("io.not_a_file", path.string() + " is not a regular file");
    std::string bytes;
    char buffer[65536];
    for (;;) {
        const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failErrno("cannot read", path.string(), errno);
        if (n == 0)
            return bytes;
        bytes.append(buffer, static_cast<std::size_t>(n));
        if (bytes.size() > limit)
            return fail(
                "io.too_large", path.string() + " is larger than " + std::to_string(limit) + " bytes");
    }
}

namespace {

Status writeAll(int fd, std::string_view bytes, const fs::path& path)
{
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failErrno("cannot write", path.string(), errno);
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

fs::path folderOf(const fs::path& path)
{
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

Status fill(int fd, const fs::path& path, std::string_view bytes, unsigned mode)
{
    GB_TRY(writeAll(fd, bytes, path));
    if (::fchmod(fd, mode) != 0 || ::fsync(fd) != 0)
        return failErrno("cannot store", path.string(), errno);
    return {};
}

// The file itself and nothing that stands at its name since.
bool standsAt(int fd, const fs::path& name)
{
    struct stat ours
    { };
    struct stat there
    { };
    return ::fstat(fd, &ours) == 0 && ::lstat(name.c_str(), &there) == 0 && ours.st_ino == there.st_ino
        && ours.st_dev == there.st_dev;
}

// What a killed writer left. Who still writes holds its file locked, so "can be locked" means "left".
void removeLeftover(const fs::path& name)
{
    const UniqueFd fd(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    struct stat info
    { };
    if (fd.valid() && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode)
        && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 && standsAt(fd.get(), name))
        ::unlink(name.c_str());
}

// The complete file under the name, locked; without a file: the name is taken.
Result<UniqueFd> stageAs(const fs::path& name, const fs::path& path, std::string_view bytes, unsigned mode)
{
    // Without a name until it is complete: who is killed meanwhile leaves nothing lying about.
    UniqueFd nameless(::open(folderOf(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
    if (nameless.valid()) {
        GB_TRY(fill(nameless.get(), path, bytes, mode));
        ::flock(nameless.get(), LOCK_EX | LOCK_NB);
        const std::string place = "/proc/self/fd/" + std::to_string(nameless.get());
        if (::linkat(AT_FDCWD, place.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
            return nameless;
        if (errno == EEXIST)
            return UniqueFd();
    }
    // Not every file system has such files, and not every place has /proc.
    UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!fd.valid() && errno == EEXIST)
        return UniqueFd();
    if (!fd.valid())
        return failErrno("cannot create", path.string(), errno);
    ::flock(fd.get(), LOCK_EX);
    if (const Status filled = fill(fd.get(), path, bytes, mode); !filled) {
        ::unlink(name.c_str());
        return fail(filled.error());
    }
    // Between its making and its locking it looked like something left.
    return standsAt(fd.get(), name) ? std::move(fd) : UniqueFd();
}

} // namespace

Status writeFileAtomic(const fs::path& path, std::string_view bytes, unsigned mode)
{
    // One name for all who write this file, so that the next one finds what a killed one left. A name of its
    // own where that stays taken: by another writer this moment, or by something that is not a file.
    constexpr std::size_t longest = 180; // of 255 bytes, what is put around it has the rest
    const fs::path shared =
        folderOf(path) / ("." + path.filename().string().substr(0, longest) + ".glovebox-new");
    fs::path name = shared;
    removeLeftover(name);
    Result<UniqueFd> staged = stageAs(name, path, bytes, mode);
    if (staged && !staged->valid()) {
        name = shared.string() + "-" + newId();
        staged = stageAs(name, path, bytes, mode);
    }
    if (!staged)
        return fail(staged.error());
    if (::rename(name.c_str(), path.c_str()) != 0) {
        const Status failed = failErrno("cannot replace", path.string(), errno);
        ::unlink(name.c_str());
        return failed;
    }
    const UniqueFd folder(::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.valid())
        ::fsync(folder.get());
    return {};
}

Status ensurePrivateDir(const fs::path& path)
{
    std::error_code error;
    if (path.has_parent_path())
        fs::create_directories(path.parent_path(), error);
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        return failErrno("cannot create folder", path.string(), errno);
    struct stat info
    { };
    if (::lstat(path.c_str(), &info) != 0)
        return failErrno("cannot look at", path.string(), errno);
    if (!S_ISDIR(info.st_mode))
        return fail("io.not_private", path.string() + " is not a folder (a link or a file stands there)");
    if (info.st_uid != ::geteuid())
        return fail("io.not_private", path.string() + " belongs to another user");
    if ((info.st_mode & 077) != 0 && ::chmod(path.c_str(), 0700) != 0)
        return failErrno("cannot make private", path.string(), errno);
    return {};
}

Result<UniqueFd> holdLock(const fs::path& path)
{
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid())
        return failErrno("cannot open", path.string(), errno);
    while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return fail("io.locked", path.string() + " is held by another process");
        if (errno != EINTR)
            return failErrno("cannot lock", path.string(), errno);
    }
    return fd;
}

} // namespace gb
