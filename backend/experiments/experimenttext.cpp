// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "experimenttext.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <backend/base/hash.h>
#include <backend/base/json.h>

namespace gb {
namespace {

constexpr const char* experimentToml = "experiment.toml";
constexpr unsigned newFileMode = 0644;

tl::unexpected<Error> badName(const std::string& name, std::string_view why)
{
    return fail("experiments.outside", name + " is not read or written here: " + std::string(why),
        Json{{"name", name}, {"reason", why}});
}

// Secrets (.env) are never read through the API, and what git keeps is git's.
bool isHidden(const fs::path& part)
{
    return part.string().starts_with('.') && part != "..";
}

Status checkName(const std::string& name)
{
    const fs::path path(name);
    if (name.empty() || name.find('\0') != std::string::npos || path.is_absolute() || !path.has_filename())
        return badName(name, "a file is named by its path within the experiment's folder");
    for (const fs::path& part : path) {
        if (part == "..")
            return badName(name, "it leads out of the experiment's folder");
        if (isHidden(part))
            return badName(name, "names with a leading dot are left alone");
    }
    return {};
}

// Never leaves the folder, whatever links lie in it and however they change meanwhile.
UniqueFd openBeneath(int folder, const fs::path& name, std::uint64_t flags, std::uint64_t resolve = 0)
{
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
    for (;;) {
        const long fd = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how);
        // Somebody moved something while it was looked up.
        if (fd < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        return UniqueFd(static_cast<int>(fd));
    }
}

tl::unexpected<Error> openFailed(const fs::path& folder, const std::string& name, int number)
{
    if (number == EXDEV)
        return badName(name, "it leads out of the experiment's folder");
    return failErrno("cannot open", (folder / name).string(), number);
}

bool isUtf8(const std::string& text)
{
    // The JSON library is what has to carry it.
    try {
        static_cast<void>(Json(text).dump());
        return true;
    } catch (const Json::exception&) {
        return false;
    }
}

tl::unexpected<Error> changedBySomebody(const fs::path& path)
{
    return fail("experiments.changed", path.string() + " was changed by somebody else since it was read",
        Json{{"path", path.string()}});
}

fs::path byDescriptor(int fd)
{
    return fs::path("/proc/self/fd") / std::to_string(fd);
}

// What is said names the file, not the descriptor it was reached by.
Error namedFor(Error error, const fs::path& path)
{
    if (error.data.contains("subject")) {
        error.data["subject"] = path.string();
        error.message =
            stringOr(error.data, "what") + " " + path.string() + ": " + stringOr(error.data, "reason");
    } else {
        error.message = path.string() + ": " + error.message.substr(error.message.find(' ') + 1);
    }
    return error;
}

Result<UniqueFd> openFolder(const fs::path& folder, const std::string& name)
{
    if (!folder.is_absolute() || folder.string().find('\0') != std::string::npos)
        return fail(
            "experiments.path", "the folder must be an absolute path", Json{{"path", folder.string()}});
    GB_TRY(checkName(name));
    UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid())
        return failErrno("cannot open", folder.string(), errno);
    if (name != experimentToml && ::faccessat(fd.get(), experimentToml, F_OK, 0) != 0)
        return fail("experiments.none", folder.string() + " is not an experiment (it has no experiment.toml)",
            Json{{"path", folder.string()}});
    return fd;
}

struct Opened
{
    UniqueFd file; // invalid: there is none
    ExperimentText text;
};

// Where the file itself lies, past the links within the folder, relative to it; empty where nobody can tell.
fs::path placeOf(int folderFd, int fileFd)
{
    std::error_code error;
    const fs::path folder = fs::read_symlink(byDescriptor(folderFd), error);
    const fs::path file = error ? fs::path() : fs::read_symlink(byDescriptor(fileFd), error);
    return error ? fs::path() : file.lexically_relative(folder);
}

Result<Opened> openText(int folderFd, const fs::path& folder, const std::string& name)
{
    Opened opened{openBeneath(folderFd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY), {folder / name, {}, {}}};
    if (!opened.file.valid()) {
        if (errno != ENOENT)
            return openFailed(folder, name, errno);
        // A link to what is not there yet is not followed into the unknown.
        struct stat info
        { };
        if (::fstatat(folderFd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
            return badName(name, "it is a link to nothing");
        return opened;
    }
    if (std::ranges::any_of(placeOf(folderFd, opened.file.get()), isHidden))
        return badName(name, "it is a link to a name with a leading dot");
    auto text = readFile(byDescriptor(opened.file.get()), largestExperimentText);
    if (!text)
        return fail(namedFor(std::move(text).error(), opened.text.path));
    if (!isUtf8(*text))
        return fail("experiments.not_text", opened.text.path.string() + " is not text (UTF-8)",
            Json{{"path", opened.text.path.string()}});
    opened.text.text = std::move(*text);
    opened.text.etag = sha256Hex(opened.text.text);
    return opened;
}

// The place of the file itself. Whoever put another file there since it was read has changed it.
Result<fs::path> realName(int folderFd, int fileFd, const fs::path& shown)
{
    fs::path relative = placeOf(folderFd, fileFd);
    struct stat read
    { };
    struct stat there
    { };
    if (relative.empty() || *relative.begin() == ".." || ::fstat(fileFd, &read) != 0
        || ::fstatat(folderFd, relative.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0
        || read.st_ino != there.st_ino || read.st_dev != there.st_dev)
        return changedBySomebody(shown);
    return relative;
}

// Of two daemons, too, one at a time. Not every file system knows locks; there it goes on without.
Status lockFolder(int fd, const fs::path& folder)
{
    constexpr int mostTries = 1000;
    constexpr unsigned pauseUs = 10'000;
    for (int tries = 0; ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++tries) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return {};
        if (tries == mostTries)
            return fail("io.locked", folder.string() + " is held by another process");
        ::usleep(pauseUs);
    }
    return {};
}

Status replaceText(int folderFd, const fs::path& realName, const ExperimentText& shown, unsigned mode)
{
    const fs::path parent = realName.has_parent_path() ? realName.parent_path() : fs::path(".");
    const UniqueFd parentFd = openBeneath(folderFd, parent, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (!parentFd.valid())
        return failErrno("cannot open the folder of", shown.path.string(), errno);
    const Status written =
        writeFileAtomic(byDescriptor(parentFd.get()) / realName.filename(), shown.text, mode);
    return written ? written : Status(fail(namedFor(written.error(), shown.path)));
}

} // namespace

Result<ExperimentText> readExperimentText(const fs::path& folder, const std::string& name)
{
    const auto folderFd = openFolder(folder, name);
    if (!folderFd)
        return fail(folderFd.error());
    auto opened = openText(folderFd->get(), folder, name);
    if (!opened)
        return fail(std::move(opened).error());
    if (!opened->file.valid() && name != experimentToml)
        return failErrno("cannot open", opened->text.path.string(), ENOENT);
    return std::move(opened->text);
}

Result<ExperimentText> writeExperimentText(
    const fs::path& folder, const std::string& name, const std::string& text, const std::string& etag)
{
    if (text.size() > largestExperimentText)
        return fail("params.value", "a file of over 4 MiB is not saved", Json{{"parameter", "text"}});
    const auto folderFd = openFolder(folder, name);
    if (!folderFd)
        return fail(folderFd.error());
    // Who compares and who replaces must be the same: two writers with one etag would both win.
    static std::mutex oneAtATime;
    const std::lock_guard lock(oneAtATime);
    GB_TRY(lockFolder(folderFd->get(), folder));
    auto before = openText(folderFd->get(), folder, name);
    if (!before)
        return fail(std::move(before).error());
    ExperimentText after{before->text.path, text, sha256Hex(text)};
    if (after.etag == before->text.etag)
        return after;
    if (before->text.etag != etag)
        return changedBySomebody(after.path);
    if (!before->file.valid()) {
        GB_TRY(replaceText(folderFd->get(), name, after, newFileMode));
        return after;
    }
    // Replacing needs the folder's permission only, which is not what a write-protected file says.
    if (::access(byDescriptor(before->file.get()).c_str(), W_OK) != 0)
        return failErrno("cannot write", after.path.string(), errno);
    struct stat info
    { };
    if (::fstat(before->file.get(), &info) != 0)
        return failErrno("cannot look at", after.path.string(), errno);
    const auto place = realName(folderFd->get(), before->file.get(), after.path);
    if (!place)
        return fail(place.error());
    GB_TRY(replaceText(folderFd->get(), *place, after, info.st_mode & 0777U));
    return after;
}

} // namespace gb
