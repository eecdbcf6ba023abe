// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "launcher.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <backend/base/paths.h>

#include "bwrapargs.h"
#include "seccompfilter.h"

namespace gb {
namespace {

constexpr int clearOfExpected = 10;

struct Inherited
{
    int spec = -1;
    int init = -1;
    int filter = -1;
    int output = -1;
};

// Only system calls between fork and exec: the caller has threads.
[[noreturn]] void becomeLauncher(const char* program, const Inherited& fds)
{
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    const int spec = ::fcntl(fds.spec, F_DUPFD, clearOfExpected);
    const int init = fds.init >= 0 ? ::fcntl(fds.init, F_DUPFD, clearOfExpected) : -1;
    const int filter = fds.filter >= 0 ? ::fcntl(fds.filter, F_DUPFD, clearOfExpected) : -1;
    const int output = ::fcntl(fds.output, F_DUPFD, clearOfExpected);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::dup2(output, 1);
    ::dup2(output, 2);
    ::dup2(spec, launcherSpecFd);
    if (init >= 0)
        ::dup2(init, launcherInitFd);
    if (filter >= 0)
        ::dup2(filter, launcherFilterFd);
    // A descriptor that leaks into a sandbox is a way out of it.
    const unsigned first = init >= 0 ? launcherFilterFd + 1 : launcherSpecFd + 1;
    ::syscall(SYS_close_range, first, ~0U, 0);
    const char* const argv[] = {program, nullptr};
    const char* const env[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", nullptr};
    ::execve(program, const_cast<char* const*>(argv), const_cast<char* const*>(env));
    ::_exit(127);
}

Result<UniqueFd> specFile(const LaunchSpec& spec)
{
    UniqueFd file(::memfd_create("glovebox-launch", MFD_CLOEXEC));
    const std::string text = spec.toJson().dump();
    if (!file.valid() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())
        || ::lseek(file.get(), 0, SEEK_SET) != 0)
        return failErrno("cannot write", "the launch specification", errno);
    return file;
}

Status fillIdMap(LaunchSpec& spec)
{
    if (!spec.uids.empty())
        return {};
    auto map = idMapOfThisUser();
    if (!map)
        return fail(map.error());
    spec.uids = map->uids;
    spec.gids = map->gids;
    return {};
}

Status checkTools(const LaunchTools& tools, bool sandbox)
{
    if (::access(tools.launcher.c_str(), X_OK) != 0)
        return failErrno("cannot run", tools.launcher.string(), errno);
    if (!sandbox)
        return {};
    if (::access(tools.init.c_str(), X_OK) != 0)
        return failErrno("cannot run", tools.init.string(), errno);
    for (const char* place : {"/usr/local/bin/bwrap", "/usr/bin/bwrap", "/bin/bwrap"}) {
        if (::access(place, X_OK) == 0)
            return {};
    }
    return fail("sandbox.no_bwrap",
        "bubblewrap is not installed, and nothing runs without isolation; install "
        "the package bubblewrap");
}

int waitFor(pid_t pid)
{
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) { }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string readRest(int fd)
{
    constexpr std::size_t most = 1U << 16U;
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; text.size() < most && (got = ::read(fd, buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(got));
    return text;
}

// The launcher's own errors are a line of JSON; bwrap's are text.
Error launchError(const std::string& said)
{
    const auto at = said.rfind("{\"code\"");
    if (at != std::string::npos) {
        std::string line = said.substr(at);
        line.resize(std::min(line.size(), line.find('\n')));
        if (const auto json = parseJson(line))
            return Error::fromJson(*json);
    }
    return Error{
        "sandbox.not_started", "the sandbox did not start: " + said.substr(0, 1000), Json{{"said", said}}};
}

struct Pipe
{
    UniqueFd reading;
    UniqueFd writing;
};

Result<Pipe> makePipe()
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return failErrno("cannot make", "a pipe", errno);
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// False when it was cancelled meanwhile.
bool waitForOutput(int fd, const std::function<bool()>& isCancelled)
{
    constexpr int lookMs = 100;
    pollfd polled{fd, POLLIN, 0};
    while (!isCancelled()) {
        if (::poll(&polled, 1, lookMs) > 0)
            return true;
    }
    return false;
}

} // namespace

LaunchTools LaunchTools::besideThisProgram()
{
    return {programFolder() / "glovebox-launcher", programFolder() / "glovebox-init"};
}

Status prepareStore(const fs::path& store)
{
    auto map = idMapOfThisUser();
    if (!map)
        return fail(map.error());
    std::error_code error;
    fs::create_directories(store.parent_path(), error);
    if (::mkdir(store.c_str(), 0700) != 0 && errno != EEXIST)
        return failErrno("cannot create folder", store.string(), errno);
    struct stat info
    { };
    if (::lstat(store.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
        return fail("io.not_private", store.string() + " is not a folder");
    const auto owner = ::geteuid() == 0 ? static_cast<uid_t>(map->uids.front().outside) : ::geteuid();
    if (info.st_uid == owner && (info.st_mode & 077) == 0)
        return {};
    if (info.st_uid != ::geteuid() && info.st_uid != owner)
        return fail("io.not_private", store.string() + " belongs to another user");
    if (::chown(store.c_str(), owner, ::geteuid() == 0 ? owner : static_cast<gid_t>(-1)) != 0
        || ::chmod(store.c_str(), 0700) != 0)
        return failErrno("cannot make private", store.string(), errno);
    return {};
}

Result<std::unique_ptr<RunningSandbox>> launchSandbox(
    LaunchSpec spec, const LaunchTools& tools, fs::path spoolFolder)
{
    GB_TRY(checkTools(tools, true));
    GB_TRY(fillIdMap(spec));
    spec.binds.push_back({tools.init.string(), initInside, false});
    auto specFd = specFile(spec);
    auto filter = makeSeccompFilter(spec.processors.empty() ? Affinity::Free : Affinity::Fixed);
    auto said = makePipe();
    for (const Error* error : {specFd ? nullptr : &specFd.error(), filter ? nullptr : &filter.error(),
             said ? nullptr : &said.error()}) {
        if (error)
            return fail(*error);
    }
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return failErrno("cannot make", "a socket pair", errno);
    // Files travel over it; the kernel cuts this to what an ordinary user may have.
    constexpr int roomForFiles = 1 << 20;
    for (const int end : ends)
        ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &roomForFiles, sizeof roomForFiles);
    UniqueFd ours(ends[0]);
    UniqueFd theirs(ends[1]);

    const std::string program = tools.launcher.string();
    std::unique_ptr<RunningSandbox> sandbox(new RunningSandbox);
    sandbox->m_pid = ::fork();
    if (sandbox->m_pid < 0)
        return failErrno("cannot start", program, errno);
    if (sandbox->m_pid == 0)
        becomeLauncher(program.c_str(), {specFd->get(), theirs.get(), filter->get(), said->writing.get()});
    sandbox->m_pidFd.reset(static_cast<int>(::syscall(SYS_pidfd_open, sandbox->m_pid, 0)));
    theirs.reset();
    said->writing.reset();
    auto init = InitClient::create(std::move(ours), std::move(spoolFolder));
    if (!init) {
        sandbox->stop(0);
        const std::string text = readRest(said->reading.get());
        return text.empty() ? fail(init.error()) : fail(launchError(text));
    }
    sandbox->m_init = std::move(*init);
    return sandbox;
}

RunningSandbox::~RunningSandbox()
{
    stop(0);
}

bool RunningSandbox::running() const
{
    pollfd ended{m_pidFd.get(), POLLIN, 0};
    return m_pid > 0 && ::poll(&ended, 1, 0) == 0;
}

void RunningSandbox::kill()
{
    ::syscall(SYS_pidfd_send_signal, m_pidFd.get(), SIGKILL, nullptr, 0);
}

void RunningSandbox::stop(std::int64_t graceMs)
{
    if (m_pid <= 0)
        return;
    if (m_init && graceMs > 0) {
        m_init->shutdown();
        pollfd ended{m_pidFd.get(), POLLIN, 0};
        ::poll(&ended, 1, static_cast<int>(graceMs));
    }
    kill();
    waitFor(m_pid);
    m_pid = -1;
}

Result<MappedOutcome> runMapped(const fs::path& store, std::vector<std::string> command,
    const LaunchTools& tools, const std::map<std::string, std::string>& env,
    const std::function<void(std::string_view)>& onOutput, const std::function<bool()>& isCancelled)
{
    GB_TRY(checkTools(tools, false));
    LaunchSpec spec;
    spec.store = store;
    spec.hostCommand = std::move(command);
    spec.hostEnv = {
        {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, {"LC_ALL", "C.UTF-8"}};
    for (const auto& [name, value] : env)
        spec.hostEnv[name] = value;
    GB_TRY(fillIdMap(spec));
    auto specFd = specFile(spec);
    auto said = makePipe();
    if (!specFd || !said)
        return fail(!specFd ? specFd.error() : said.error());
    const std::string program = tools.launcher.string();
    const pid_t pid = ::fork();
    if (pid < 0)
        return failErrno("cannot start", program, errno);
    if (pid == 0) {
        ::setpgid(0, 0);
        becomeLauncher(program.c_str(), {specFd->get(), -1, -1, said->writing.get()});
    }
    said->writing.reset();
    MappedOutcome outcome;
    std::array<char, 1U << 14U> buffer{};
    constexpr std::size_t most = 1U << 20U;
    const auto mayRead = [&] { return !isCancelled || waitForOutput(said->reading.get(), isCancelled); };
    for (ssize_t got = 0;
         mayRead() && (got = ::read(said->reading.get(), buffer.data(), buffer.size())) > 0;) {
        const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
        outcome.output.append(text.substr(0, most - std::min(most, outcome.output.size())));
        if (onOutput)
            onOutput(text);
    }
    const bool wasCancelled = isCancelled && isCancelled();
    if (wasCancelled) {
        ::kill(-pid, SIGKILL);
        ::kill(pid, SIGKILL); // it may not have made its group yet
    }
    outcome.code = waitFor(pid);
    if (wasCancelled)
        return fail("cancelled", "cancelled");
    constexpr int launcherFailed = 125;
    if (outcome.code == launcherFailed && outcome.output.find("{\"code\"") != std::string::npos)
        return fail(launchError(outcome.output));
    return outcome;
}

} // namespace gb
