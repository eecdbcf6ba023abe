// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "process.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "spawn.h"

namespace gb::init {
namespace {

constexpr std::size_t chunk = 1U << 16U;
constexpr std::size_t stdinWindow = 1U << 18U;
constexpr int signalBase = 128;

struct Belonging
{
    pid_t group = -1;
    pid_t session = -1;
};

// Where a process belongs, from /proc/PID/stat behind the name in parentheses.
Belonging belongingOf(const char* pid)
{
    const std::string path = "/proc/" + std::string(pid) + "/stat";
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> text{};
    if (!file.valid() || ::read(file.get(), text.data(), text.size() - 1) <= 0)
        return {};
    const char* behind = std::strrchr(text.data(), ')');
    Belonging found;
    if (!behind || std::sscanf(behind + 1, " %*c %*d %d %d", &found.group, &found.session) != 2)
        return {};
    return found;
}

// Those of the leader's session that left its group: the group's own were signalled at once, and a handler
// must not run twice for one Ctrl+C. Whether there were any.
bool signalOtherGroups(pid_t leader, int number)
{
    DIR* folder = ::opendir("/proc");
    if (!folder)
        return false;
    bool found = false;
    while (const dirent* entry = ::readdir(folder)) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        const Belonging belonging = belongingOf(entry->d_name);
        if (belonging.session != leader || belonging.group == leader)
            continue;
        ::kill(static_cast<pid_t>(std::atoi(entry->d_name)), number);
        found = true;
    }
    ::closedir(folder);
    return found;
}

// Who is killed forks no more, but what was forked behind our back while we looked is found the next time.
void killSession(pid_t leader, int number)
{
    constexpr int mostRounds = 4;
    ::kill(-leader, number);
    for (int round = 0; round < mostRounds && signalOtherGroups(leader, number) && number == SIGKILL; ++round)
        ::kill(-leader, number);
}

} // namespace

std::int64_t nowMs()
{
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    constexpr std::int64_t perSecond = 1000;
    constexpr std::int64_t nsPerMs = 1000000;
    return time.tv_sec * perSecond + time.tv_nsec / nsPerMs;
}

Result<std::unique_ptr<Process>> Process::start(const Json& request, Link& link)
{
    std::unique_ptr<Process> process(new Process(integerOr(request, "ch"), link));
    if (auto done = process->launch(request); !done)
        return fail(done.error());
    return process;
}

Process::~Process()
{
    if (m_pid > 0 && !m_status)
        killSession(m_pid, SIGKILL);
}

Status Process::launch(const Json& request)
{
    auto child = spawn(request);
    if (!child)
        return fail(child.error());
    m_pid = child->pid;
    m_pty = child->pty;
    m_stdin = std::move(child->input);
    m_streams[0].fd = std::move(child->output);
    m_streams[1].fd = std::move(child->errors);
    m_credit = integerOr(request, "credit", stdinWindow);
    if (const std::int64_t timeout = integerOr(request, "timeout_ms"); timeout > 0)
        m_deadline = nowMs() + timeout;
    const Json started{{"t", "started"}, {"ch", m_channel}, {"pid", m_pid}, {"fd", child->socket.valid()},
        {"stdin", stdinWindow}};
    if (child->socket.valid())
        m_link.sendWithFd(started, std::move(child->socket));
    else
        m_link.send(started);
    return {};
}

Status Process::writeStdin(std::string_view bytes)
{
    if (!m_stdin.valid() || m_closeStdin)
        return {}; // the command closed it or ended; its exit says so
    if (m_pendingStdin.size() + bytes.size() > stdinWindow)
        return fail("init.credit", "more was sent to standard input than was granted");
    m_pendingStdin.append(bytes);
    onWritable();
    return {};
}

void Process::closeStdin()
{
    m_closeStdin = true;
    onWritable();
}

void Process::onWritable()
{
    std::size_t written = 0;
    while (m_stdin.valid() && written < m_pendingStdin.size()) {
        const ssize_t sent =
            ::write(m_stdin.get(), m_pendingStdin.data() + written, m_pendingStdin.size() - written);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (sent <= 0) {
            m_stdin.reset();
            written = m_pendingStdin.size();
            break;
        }
        written += static_cast<std::size_t>(sent);
    }
    if (written > 0) {
        m_pendingStdin.erase(0, written);
        m_link.send(Json{{"t", "stdin.credit"}, {"ch", m_channel}, {"bytes", written}});
    }
    if (!m_closeStdin || !m_pendingStdin.empty() || !m_stdin.valid())
        return;
    constexpr char endOfFile = 4; // what a terminal understands as the end
    if (m_pty)
        (void)!::write(m_stdin.get(), &endOfFile, 1);
    else
        m_stdin.reset();
    m_closeStdin = !m_pty;
}

void Process::resize(int rows, int columns)
{
    winsize size{};
    size.ws_row = static_cast<unsigned short>(std::clamp(rows, 1, 1000));
    size.ws_col = static_cast<unsigned short>(std::clamp(columns, 1, 1000));
    if (m_pty)
        ::ioctl(m_streams[0].fd.get(), TIOCSWINSZ, &size);
}

void Process::signal(int number) const
{
    if (m_pid > 0 && number > 0 && number < NSIG)
        killSession(m_pid, number);
}

int Process::readableFd(std::size_t stream) const
{
    // Once the exit is told, what background processes still write is read and dropped, so that they neither
    // block nor die of SIGPIPE.
    if (!m_reported && (m_credit <= 0 || m_link.congested()))
        return -1;
    return m_streams[stream].fd.get();
}

bool Process::onReadable(std::size_t stream)
{
    const std::int64_t before = m_credit;
    // One piece a turn: others write as well.
    drain(m_streams[stream], chunk);
    reportExitWhenDrained();
    return m_credit != before;
}

bool Process::drain(Stream& stream, std::size_t most)
{
    std::array<char, chunk> buffer; // NOLINT: filled by read
    for (std::size_t taken = 0; stream.fd.valid();) {
        if (taken >= most)
            return false;
        if (!m_reported && (m_credit <= 0 || m_link.congested()))
            return false;
        const std::size_t room =
            m_reported ? chunk : std::min<std::size_t>(chunk, static_cast<std::size_t>(m_credit));
        const ssize_t got = ::read(stream.fd.get(), buffer.data(), room);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return true;
        if (got <= 0) { // a terminal without a reader says EIO
            stream.fd.reset();
            return true;
        }
        if (m_reported)
            return true; // one piece per turn: a background process may write for ever
        taken += static_cast<std::size_t>(got);
        m_credit -= got;
        m_link.send(Json{{"t", "out"}, {"ch", m_channel}, {"stream", stream.name}},
            {buffer.data(), static_cast<std::size_t>(got)});
    }
    return true;
}

void Process::onExit(int status, std::int64_t mostMemory)
{
    m_status = status;
    m_mostMemory = mostMemory;
    m_deadline.reset();
    reportExitWhenDrained();
}

void Process::reportExitWhenDrained()
{
    if (!m_status || m_reported)
        return;
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    const bool first = drain(m_streams[0], all);
    const bool second = drain(m_streams[1], all);
    if (!first || !second)
        return;
    const bool killed = WIFSIGNALED(*m_status);
    const int code = killed ? signalBase + WTERMSIG(*m_status) : WEXITSTATUS(*m_status);
    m_link.send(
        Json{{"t", "exit"}, {"ch", m_channel}, {"code", code}, {"signal", killed ? WTERMSIG(*m_status) : 0},
            {"timed_out", m_timedOut}, {"most_memory", m_mostMemory}});
    m_reported = true;
    m_stdin.reset();
    if (m_pty)
        m_streams[0].fd.reset();
}

void Process::onDeadline()
{
    m_timedOut = true;
    m_deadline.reset();
    killSession(m_pid, SIGKILL);
}

} // namespace gb::init
