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

Status writeTemporary(const fs::path& temporary, const fs::path& path, std::string_view bytes, unsigned mode)
{
    // Without a name until it is complete: who is killed meanwhile leaves nothing lying about.
    const UniqueFd nameless(::open(folderOf(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
    if (nameless.valid()) {
        GB_TRY(fill(nameless.get(), path, bytes, mode));
        const std::string place = "/proc/self/fd/" + std::to_string(nameless.get());
        if (::linkat(AT_FDCWD, place.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0)
            return {};
    }
    // Not every file system has such files, and not every place has /proc.
    const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!fd.valid())
        return failErrno("cannot create", path.string(), errno);
    return fill(fd.get(), path, bytes, mode);
}

} // namespace

Status writeFileAtomic(const fs::path& path, std::string_view bytes, unsigned mode)
{
    const fs::path temporary = folderOf(path) / ("." + path.filename().string() + "." + newId());
    Status written = writeTemporary(temporary, path, bytes, mode);
    if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
        written = failErrno("cannot replace", path.string(), errno);
    if (!written) {
        ::unlink(temporary.c_str());
        return written;
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
