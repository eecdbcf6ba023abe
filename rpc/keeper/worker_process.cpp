// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "worker_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <backend/base/files.h>
#include <backend/base/json.h>
#include <backend/base/paths.h>

namespace gb::rpc {
namespace {

constexpr int linkDescriptor = 3;

// When memory runs out, the worker goes and the host stays to say so.
void volunteerForMemory()
{
    const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    [[maybe_unused]] const auto ignored = ::write(fd, "500", 3);
}

struct ChildSetup
{
    char* const* argv;
    int link;
    int out;
    int err;
};

// Between fork and exec only calls that are safe in a child of a threaded process.
[[noreturn]] void becomeWorker(const ChildSetup& setup, int parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        ::_exit(127);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    volunteerForMemory();
    ::setpgid(0, 0); // Ctrl+C is for the host, which ends its worker in order
    const int null = ::open("/dev/null", O_RDONLY);
    // High numbers first, so that no dup2 below closes a descriptor still needed.
    const int link = ::fcntl(setup.link, F_DUPFD, 10);
    const int out = ::fcntl(setup.out, F_DUPFD, 10);
    const int err = ::fcntl(setup.err, F_DUPFD, 10);
    ::dup2(null, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::dup2(link, linkDescriptor);
    ::syscall(SYS_close_range, linkDescriptor + 1, ~0U, 0);
    ::execvp(setup.argv[0], setup.argv);
    const char* reason = std::strerror(errno);
    [[maybe_unused]] auto ignored = ::write(STDERR_FILENO, reason, std::strlen(reason));
    ::_exit(127);
}

Result<std::array<UniqueFd, 2>> makePipe()
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return failErrno("cannot make", "a pipe", errno);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return std::array<UniqueFd, 2>{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

} // namespace

std::int64_t memoryKills()
{
    const auto counters = readFile("/proc/vmstat");
    constexpr std::string_view name = "\noom_kill ";
    const std::size_t at = counters ? counters->find(name) : std::string::npos;
    return at == std::string::npos ? 0 : std::strtoll(counters->c_str() + at + name.size(), nullptr, 10);
}

std::string WorkerExit::sentence() const
{
    if (sandboxGone)
        return std::string("the sandbox of the worker has ended")
            + (outOfMemory ? " because it took more memory than it may" : "");
    if (signal != 0) {
        const char* name = ::sigabbrev_np(signal);
        const std::string how =
            "the worker was ended by signal SIG" + std::string(name ? name : std::to_string(signal).c_str());
        return outOfMemory ? how + " because memory ran out (it held up to "
                + std::to_string(mostMemory / (1 << 20)) + " MiB)"
                           : how;
    }
    return "the worker ended with exit code " + std::to_string(code);
}

Json WorkerExit::toJson() const
{
    Json json = Json::object();
    if (signal != 0) {
        const char* name = ::sigabbrev_np(signal);
        json["signal"] = "SIG" + std::string(name ? name : std::to_string(signal).c_str());
    } else {
        json["exit_code"] = code;
    }
    if (outOfMemory)
        json["out_of_memory"] = true;
    json["most_memory"] = mostMemory;
    json["stderr"] = lastLines;
    return json;
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(
    Loop& loop, const std::string& python, const std::string& package, UniqueFd link, Handlers handlers)
{
    auto out = makePipe();
    auto err = makePipe();
    if (!out || !err)
        return tl::unexpected(out ? err.error() : out.error());
    std::vector<std::string> words{
        python, "-X", "utf8", package + "/__main__.py", "--fd", std::to_string(linkDescriptor)};
    std::error_code absent; // the worker does without
    if (const fs::path speed = shareFolder() / "speed"; fs::is_directory(speed, absent))
        words.insert(words.end(), {"--speed", speed.string()});
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);

    std::unique_ptr<WorkerProcess> process(new WorkerProcess(loop, std::move(handlers)));
    const int parent = ::getpid();
    process->m_memoryKills = memoryKills();
    process->m_pid = ::fork();
    if (process->m_pid < 0)
        return failErrno("cannot start", python, errno);
    if (process->m_pid == 0)
        becomeWorker({argv.data(), link.get(), (*out)[1].get(), (*err)[1].get()}, parent);

    process->m_pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, process->m_pid, 0)));
    WorkerProcess* self = process.get();
    process->watchPipe(process->m_out, "stdout", std::move((*out)[0]));
    process->watchPipe(process->m_err, "stderr", std::move((*err)[0]));
    process->m_pidWatch =
        loop.watch(process->m_pidfd.get(), EPOLLIN, [self](std::uint32_t) { self->reap(); });
    return process;
}

WorkerProcess::~WorkerProcess()
{
    for (Pipe* pipe : {&m_out, &m_err}) {
        if (pipe->fd.valid())
            m_loop.unwatch(pipe->watch);
    }
    if (m_pid <= 0)
        return;
    m_loop.unwatch(m_pidWatch);
    ::kill(-m_pid, SIGKILL);
    ::waitpid(m_pid, nullptr, 0);
}

void WorkerProcess::kill(int signal)
{
    m_killed = true;
    if (m_pid > 0)
        ::kill(-m_pid, signal); // with whatever it started
}

void WorkerProcess::killRest()
{
    if (m_pid > 0)
        ::kill(-m_pid, SIGKILL);
}

void WorkerProcess::watchPipe(Pipe& pipe, const char* name, UniqueFd fd)
{
    pipe.name = name;
    pipe.fd = std::move(fd);
    pipe.watch = m_loop.watch(pipe.fd.get(), EPOLLIN, [this, &pipe](std::uint32_t) { drain(pipe); });
}

void WorkerProcess::drain(Pipe& pipe)
{
    std::array<char, 16384> buffer;
    // Bounded, so that a process that only prints does not hold the loop.
    for (int round = 0; round < 16 && pipe.fd.valid(); ++round) {
        const long got = ::read(pipe.fd.get(), buffer.data(), buffer.size());
        if (got > 0) {
            const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
            if (&pipe == &m_err)
                m_lastLines.add(text);
            m_handlers.output(pipe.name, text);
            continue;
        }
        if (got == 0) {
            m_loop.unwatch(pipe.watch);
            pipe.fd.reset();
        }
        return;
    }
}

void LastLines::add(std::string_view text)
{
    constexpr std::size_t most = 20;
    constexpr std::size_t longest = 500;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (!m_open)
            m_lines.emplace_back();
        std::string& line = m_lines.back();
        line += text.substr(0, std::min(end, longest - std::min(longest, line.size())));
        m_open = end == std::string_view::npos;
        text.remove_prefix(m_open ? text.size() : end + 1);
        if (m_lines.size() > most)
            m_lines.pop_front();
    }
}

void WorkerProcess::reap()
{
    int status = 0;
    rusage used{};
    if (::wait4(m_pid, &status, WNOHANG, &used) != m_pid)
        return;
    m_loop.unwatch(m_pidWatch);
    m_pid = -1;
    drain(m_out);
    drain(m_err);
    WorkerExit exit;
    exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    exit.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    exit.outOfMemory = exit.signal == SIGKILL && !m_killed && memoryKills() > m_memoryKills;
    exit.mostMemory = std::int64_t{used.ru_maxrss} * 1024;
    exit.lastLines = m_lastLines.lines();
    // The handler usually destroys this object.
    const auto handler = m_handlers.exited;
    handler(exit);
}

} // namespace gb::rpc
