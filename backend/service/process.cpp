// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <vector>

#include <backend/api/daemonstart.h>
#include <backend/base/clock.h>
#include <backend/base/log.h>
#include <backend/base/paths.h>

namespace gb::service {
namespace {

constexpr std::int64_t lockWaitNs = 15'000'000'000;
constexpr useconds_t lockPollUs = 10'000;

} // namespace

Result<DataFolderLock> DataFolderLock::take(const fs::path& dataFolder)
{
    GB_TRY(ensurePrivateDir(dataFolder));
    const auto socket = daemonSocket(dataFolder);
    if (!socket)
        return fail(socket.error());
    const fs::path path = dataFolder / "daemon.lock";
    DataFolderLock lock;
    lock.m_fd.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.m_fd.valid())
        return failErrno("cannot open", path.string(), errno);
    const std::int64_t until = monotonicNs() + lockWaitNs;
    while (::flock(lock.m_fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return failErrno("cannot lock", path.string(), errno);
        if (api::connectLocal(*socket) || monotonicNs() > until) {
            lock.m_fd.reset();
            return lock;
        }
        ::usleep(lockPollUs);
    }
    return lock;
}

SignalWatch::SignalWatch()
{
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    m_fd.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    m_notifier = std::make_unique<QSocketNotifier>(m_fd.get(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, [this] {
        signalfd_siginfo info{};
        while (::read(m_fd.get(), &info, sizeof info) > 0) { }
        Q_EMIT asked();
    });
}

SignalWatch::~SignalWatch() = default;

void cleanEnvironment()
{
    std::vector<std::string> names;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        if (!api::isDaemonVariable(name))
            names.emplace_back(name);
    }
    for (const std::string& name : names)
        ::unsetenv(name.c_str());
    ::setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    // Descriptors of whoever started us would otherwise stay open as long as we live.
    ::close_range(3, ~0U, 0);
}

Status logHere(const fs::path& file)
{
    const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!fd.valid() || ::dup2(fd.get(), STDERR_FILENO) < 0)
        return failErrno("cannot open", file.string(), errno);
    return logToFile(file);
}

} // namespace gb::service
