// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "namespaces.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <backend/base/fd.h>

#include "bwrapargs.h"

namespace gb {
namespace {

Status writeText(const std::string& path, const std::string& text)
{
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return failErrno("cannot write", path, errno);
    return {};
}

std::string mapText(const std::vector<IdRange>& ranges)
{
    std::string text;
    for (const IdRange& range : ranges)
        text += std::to_string(range.inside) + " " + std::to_string(range.outside) + " "
            + std::to_string(range.count) + "\n";
    return text;
}

int runMapTool(const char* tool, pid_t target, const std::vector<IdRange>& ranges)
{
    std::vector<std::string> words{tool, std::to_string(target)};
    for (const IdRange& range : ranges) {
        for (const std::int64_t number : {range.inside, range.outside, range.count})
            words.push_back(std::to_string(number));
    }
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::execvp(tool, argv.data());
        ::_exit(127);
    }
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A child in the outer namespace writes the map as soon as the parent has made the new one.
Status enterUserNamespace(const LaunchSpec& spec)
{
    const bool isRoot = ::geteuid() == 0;
    const pid_t self = ::getpid();
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0)
        return failErrno("cannot make", "a pipe", errno);
    const pid_t helper = ::fork();
    if (helper < 0)
        return failErrno("cannot start", "the id map helper", errno);
    if (helper == 0) {
        char go = 0;
        ::close(ready[1]);
        if (::read(ready[0], &go, 1) != 1)
            ::_exit(1);
        const std::string folder = "/proc/" + std::to_string(self);
        if (isRoot)
            ::_exit(writeText(folder + "/uid_map", mapText(spec.uids))
                        && writeText(folder + "/gid_map", mapText(spec.gids))
                    ? 0
                    : 2);
        ::_exit(runMapTool("newuidmap", self, spec.uids) == 0 && runMapTool("newgidmap", self, spec.gids) == 0
                ? 0
                : 3);
    }
    const bool entered = ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    const int reason = errno;
    if (entered)
        (void)!::write(ready[1], "x", 1);
    ::close(ready[1]);
    ::close(ready[0]);
    int status = 0;
    ::waitpid(helper, &status, 0);
    if (!entered)
        return fail("sandbox.no_user_namespace",
            std::string("this machine refuses user namespaces (") + std::strerror(reason)
                + "); see kernel.apparmor_restrict_unprivileged_userns, kernel.unprivileged_userns_clone and "
                  "user.max_user_namespaces",
            Json{{"errno", reason}});
    if (status != 0)
        return fail(
            "sandbox.id_map", "the id map was refused; are newuidmap and newgidmap installed (uidmap)?");
    ::setgroups(0, nullptr);
    if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0)
        return failErrno("cannot become", "root of the id map", errno);
    return {};
}

std::string staged(std::size_t index)
{
    return std::string(stageFolder) + "/b" + std::to_string(index);
}

// Brings every bind source under one folder that the root of the map can reach, whatever its own path's
// permissions are. Descriptors first, because the folder's tmpfs may cover some of the sources.
Status stageBinds(const LaunchSpec& spec)
{
    std::vector<UniqueFd> sources;
    for (const BindSpec& bind : spec.binds) {
        sources.emplace_back(::open(bind.source.c_str(), O_PATH | O_CLOEXEC));
        if (!sources.back().valid())
            return failErrno("cannot open", bind.source, errno);
    }
    if (::mount("tmpfs", stageFolder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=4m") != 0)
        return failErrno("cannot mount", "the staging folder", errno);
    if (::mkdir(rootFolder, 0755) != 0)
        return failErrno("cannot create", rootFolder, errno);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        struct stat info
        { };
        ::fstat(sources[i].get(), &info);
        const std::string target = staged(i);
        const bool made = S_ISDIR(info.st_mode)
            ? ::mkdir(target.c_str(), 0755) == 0
            : UniqueFd(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)).valid();
        const std::string source = "/proc/self/fd/" + std::to_string(sources[i].get());
        if (!made || ::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
            return failErrno("cannot bind", spec.binds[i].source, errno);
    }
    return {};
}

Status configure(int context, const char* key, const std::string& value)
{
    if (::fsconfig(context, FSCONFIG_SET_STRING, key, value.c_str(), 0) != 0)
        return failErrno("overlay refuses", std::string(key) + "=" + value, errno);
    return {};
}

// mount(2) silently cuts options near 4096 bytes, so long stacks go through the newer calls.
Status mountOverlayStepwise(const LaunchSpec& spec)
{
    const UniqueFd context(::fsopen("overlay", FSOPEN_CLOEXEC));
    if (!context.valid())
        return failErrno("cannot open", "an overlay", errno);
    for (const std::string& lower : spec.lowers)
        GB_TRY(configure(context.get(), "lowerdir+", lower));
    GB_TRY(configure(context.get(), "upperdir", spec.upper));
    GB_TRY(configure(context.get(), "workdir", spec.work));
    if (::fsconfig(context.get(), FSCONFIG_SET_FLAG, "userxattr", nullptr, 0) != 0
        || ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
        return failErrno("cannot create", "the overlay", errno);
    const UniqueFd mounted(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
    if (!mounted.valid()
        || ::move_mount(mounted.get(), "", AT_FDCWD, rootFolder, MOVE_MOUNT_F_EMPTY_PATH) != 0)
        return failErrno("cannot mount", "the overlay", errno);
    return {};
}

Status mountOverlay(const LaunchSpec& spec)
{
    std::string options = "lowerdir=";
    for (const std::string& lower : spec.lowers)
        options += (options.back() == '=' ? "" : ":") + lower;
    options += ",upperdir=" + spec.upper + ",workdir=" + spec.work + ",userxattr";
    constexpr std::size_t longest = 4000;
    if (options.size() > longest)
        return mountOverlayStepwise(spec);
    if (::mount("overlay", rootFolder, "overlay", 0, options.c_str()) != 0)
        return failErrno("cannot mount", "the overlay", errno);
    return {};
}

// They belong to the root of the map, whoever makes them.
Status makeFolders(const LaunchSpec& spec, bool asRealRoot)
{
    for (const std::string& folder : spec.folders) {
        fs::path path;
        for (const fs::path& part : fs::path(folder)) {
            path /= part;
            if (::mkdir(path.c_str(), 0755) == 0) {
                if (asRealRoot
                    && ::lchown(path.c_str(), static_cast<uid_t>(spec.uids.front().outside),
                           static_cast<gid_t>(spec.gids.front().outside))
                        != 0)
                    return failErrno("cannot give away", path.string(), errno);
            } else if (errno != EEXIST) {
                return failErrno("cannot create folder", path.string(), errno);
            }
        }
    }
    return {};
}

Status setLimits(const LaunchSpec& spec)
{
    const auto limit = [](auto resource, rlim_t value) {
        const rlimit both{value, value};
        return ::setrlimit(resource, &both);
    };
    if (limit(RLIMIT_CORE, 0) != 0
        || (spec.processes > 0 && limit(RLIMIT_NPROC, static_cast<rlim_t>(spec.processes)) != 0)
        || (spec.fileBytes > 0 && limit(RLIMIT_FSIZE, static_cast<rlim_t>(spec.fileBytes)) != 0))
        return failErrno("cannot set", "the limits", errno);
    return {};
}

// Programs of the machine want to name the store in full, and the folders above it may be closed to them.
Status showStore()
{
    const std::string place = std::string(stageFolder) + "/store";
    if (::mount("tmpfs", stageFolder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0
        || ::mkdir(place.c_str(), 0755) != 0
        || ::mount(".", place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0
        || ::chdir(place.c_str()) != 0)
        return failErrno("cannot show", "the store", errno);
    return {};
}

Status pin(const std::vector<int>& processors)
{
    if (processors.empty())
        return {};
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int processor : processors)
        CPU_SET(static_cast<std::size_t>(processor), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
        return failErrno("cannot choose", "the processors", errno);
    return {};
}

Status prepare(const LaunchSpec& spec)
{
    // The keyring of the person's session would be readable inside.
    constexpr int joinSessionKeyring = 1;
    ::syscall(SYS_keyctl, joinSessionKeyring, nullptr);
    for (const std::string& group : spec.groups)
        GB_TRY(writeText(group, "0"));
    GB_TRY(pin(spec.processors));
    if (::chdir(spec.store.c_str()) != 0)
        return failErrno("cannot enter", spec.store.string(), errno);
    const bool isRoot = ::geteuid() == 0;
    const bool isSandbox = spec.hostCommand.empty();
    if (isRoot && isSandbox) {
        // Real root can open sources whose folders the mapped root cannot pass, so it stages them itself.
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return failErrno("cannot make", "private mounts", errno);
        GB_TRY(makeFolders(spec, true));
        GB_TRY(stageBinds(spec));
    }
    GB_TRY(enterUserNamespace(spec));
    // A change of ids has cleared it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return failErrno("cannot make", "private mounts", errno);
    ::umask(022);
    if (!isRoot || !isSandbox)
        GB_TRY(makeFolders(spec, false));
    if (!isSandbox)
        return showStore();
    if (!isRoot)
        GB_TRY(stageBinds(spec));
    if (!spec.lowers.empty())
        GB_TRY(mountOverlay(spec));
    GB_TRY(writeText("/proc/sys/user/max_user_namespaces", "0"));
    return setLimits(spec);
}

[[nodiscard]] Error execute(
    const std::vector<std::string>& words, const std::map<std::string, std::string>& env)
{
    std::vector<std::string> texts = words;
    std::vector<char*> argv;
    for (std::string& text : texts)
        argv.push_back(text.data());
    argv.push_back(nullptr);
    std::vector<std::string> variables;
    for (const auto& [name, value] : env)
        variables.push_back(name + "=" + value);
    std::vector<char*> environment;
    for (std::string& variable : variables)
        environment.push_back(variable.data());
    environment.push_back(nullptr);
    ::execvpe(texts.front().c_str(), argv.data(), environment.data());
    return failErrno("cannot run", texts.front(), errno).value();
}

} // namespace

Error becomeSandbox(const LaunchSpec& spec)
{
    if (auto ready = prepare(spec); !ready)
        return ready.error();
    if (!spec.hostCommand.empty())
        return execute(spec.hostCommand, spec.hostEnv);
    return execute(bwrapArguments(spec), {});
}

} // namespace gb
