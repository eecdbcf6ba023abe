// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "probes.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <backend/base/ids.h>

namespace gb {
namespace {

enum Step : unsigned char { Unshare = 1, MapIds, Mount, Overlay, WriteThrough };

const char* stepName(unsigned char step)
{
    switch (step) {
    case Unshare:
        return "making a user namespace";
    case MapIds:
        return "mapping the user into it";
    case Mount:
        return "mounting inside it";
    case Overlay:
        return "mounting an overlay inside it";
    case WriteThrough:
        return "writing through the overlay";
    default:
        return "";
    }
}

// The daemon has other threads, so from here to _exit only plain system calls on prepared memory are made.
struct Prepared
{
    std::string uidMap;
    std::string gidMap;
    std::string mountPoint;
    std::string overlayOptions; // empty: no overlay
    std::string writtenFile;
};

bool writeWhole(const char* path, const char* text)
{
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && ::write(fd, text, std::strlen(text)) == ssize_t(std::strlen(text));
    const int error = errno;
    if (fd >= 0)
        ::close(fd);
    errno = error;
    return written;
}

unsigned char failingStep(const Prepared& prepared)
{
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return Unshare;
    writeWhole("/proc/self/setgroups", "deny");
    if (!writeWhole("/proc/self/uid_map", prepared.uidMap.c_str())
        || !writeWhole("/proc/self/gid_map", prepared.gidMap.c_str()))
        return MapIds;
    if (prepared.overlayOptions.empty())
        return ::mount("none", prepared.mountPoint.c_str(), "tmpfs", 0, "size=64k") != 0 ? Mount : 0;
    if (::mount("overlay", prepared.mountPoint.c_str(), "overlay", 0, prepared.overlayOptions.c_str()) != 0)
        return Overlay;
    const int fd = ::open(prepared.writtenFile.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return WriteThrough;
    ::close(fd);
    return 0;
}

ProbeResult runProbe(const Prepared& prepared)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return {errno, "making a pipe"};
    const pid_t child = ::fork();
    if (child == 0) {
        const unsigned char step = failingStep(prepared);
        const int answer[2] = {step == 0 ? 0 : errno, step};
        ::_exit(::write(ends[1], answer, sizeof answer) == ssize_t(sizeof answer) ? 0 : 1);
    }
    ::close(ends[1]);
    int answer[2] = {EIO, 0};
    if (child > 0) {
        if (::read(ends[0], answer, sizeof answer) != ssize_t(sizeof answer))
            answer[0] = EIO;
        ::waitpid(child, nullptr, 0);
    }
    ::close(ends[0]);
    return {answer[0], stepName(static_cast<unsigned char>(answer[1]))};
}

Prepared prepare(const fs::path& mountPoint)
{
    const auto map = [](unsigned id) { return "0 " + std::to_string(id) + " 1"; };
    return {map(::geteuid()), map(::getegid()), mountPoint.string(), {}, {}};
}

} // namespace

ProbeResult probeUserNamespace()
{
    return runProbe(prepare("/tmp"));
}

ProbeResult probeOverlay(const fs::path& folder)
{
    const fs::path place = folder / (".doctor-" + newId());
    std::error_code error;
    for (const char* part : {"lower", "upper", "work", "merged"})
        fs::create_directories(place / part, error);
    if (error)
        return {error.value(), "making a folder in " + folder.string()};
    Prepared prepared = prepare(place / "merged");
    prepared.overlayOptions = "userxattr,lowerdir=" + (place / "lower").string()
        + ",upperdir=" + (place / "upper").string() + ",workdir=" + (place / "work").string();
    prepared.writtenFile = (place / "merged" / "file").string();
    ProbeResult result = runProbe(prepared);
    // The kernel leaves a folder that not even its owner may look into.
    fs::permissions(place / "work" / "work", fs::perms::owner_all, error);
    fs::remove_all(place, error);
    return result;
}

} // namespace gb
