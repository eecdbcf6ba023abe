// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "spawn.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

namespace gb::init {
namespace {

constexpr int socketInChild = 3;
constexpr int notFound = 127;

// Everything the child needs, made before fork so that the child only makes system calls.
struct Plan
{
    std::vector<std::string> words;
    std::vector<std::string> variables;
    std::vector<char*> argv;
    std::vector<char*> env;
    std::vector<std::string> candidates;
    std::string folder;
    UniqueFd input;
    UniqueFd output;
    UniqueFd errors;
    UniqueFd socket;
    bool pty = false;
};

std::vector<std::string> lookUp(const std::string& program, const std::string& path)
{
    if (program.find('/') != std::string::npos)
        return {program};
    std::vector<std::string> found;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find(':', at), path.size());
        if (end > at)
            found.push_back(path.substr(at, end - at) + "/" + program);
        at = end + 1;
    }
    return found;
}

std::vector<char*> pointers(std::vector<std::string>& texts)
{
    std::vector<char*> out;
    for (std::string& text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

Status readWords(const Json& request, Plan& plan)
{
    const Json argv = request.contains("argv") ? request["argv"] : Json();
    if (!argv.is_array() || argv.empty())
        return fail("init.argv", "argv must be a list with at least the program");
    for (const Json& word : argv) {
        if (!word.is_string() || word.get<std::string>().find('\0') != std::string::npos)
            return fail("init.argv", "argv must hold texts without NUL");
        plan.words.push_back(word.get<std::string>());
    }
    std::string path = "/usr/local/bin:/usr/bin:/bin";
    const Json env = objectOr(request, "env");
    for (const auto& [name, value] : env.items()) {
        if (!value.is_string())
            return fail("init.env", "env." + name + " must be a text");
        plan.variables.push_back(name + "=" + value.get<std::string>());
        if (name == "PATH")
            path = value.get<std::string>();
    }
    plan.argv = pointers(plan.words);
    plan.env = pointers(plan.variables);
    plan.candidates = lookUp(plan.words.front(), path);
    plan.folder = stringOr(request, "cwd", "/");
    return {};
}

Status pipePair(UniqueFd& reading, UniqueFd& writing)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return failErrno("cannot make", "a pipe", errno);
    reading.reset(ends[0]);
    writing.reset(ends[1]);
    return {};
}

Status openStreams(const Json& request, Plan& plan, Child& child)
{
    if (request.contains("pty") && request["pty"].is_object()) {
        winsize size{};
        size.ws_row = static_cast<unsigned short>(integerOr(request["pty"], "rows", 24));
        size.ws_col = static_cast<unsigned short>(integerOr(request["pty"], "cols", 80));
        int master = -1;
        int slave = -1;
        if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0)
            return failErrno("cannot open", "a terminal", errno);
        ::fcntl(master, F_SETFD, FD_CLOEXEC);
        ::fcntl(slave, F_SETFD, FD_CLOEXEC);
        child.pty = plan.pty = true;
        child.output.reset(master);
        child.input.reset(::fcntl(master, F_DUPFD_CLOEXEC, 0));
        plan.output.reset(slave);
    } else {
        GB_TRY(pipePair(child.output, plan.output));
        GB_TRY(pipePair(child.errors, plan.errors));
        if (boolOr(request, "stdin"))
            GB_TRY(pipePair(plan.input, child.input));
        else
            plan.input.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    for (const UniqueFd* fd : {&child.input, &child.output, &child.errors}) {
        if (fd->valid())
            ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
    }
    if (!boolOr(request, "socket"))
        return {};
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return failErrno("cannot make", "a socket pair", errno);
    child.socket.reset(ends[0]);
    plan.socket.reset(ends[1]);
    return {};
}

// Only system calls from here to exec. Descriptors are first moved above the ones they will become.
[[noreturn]] void becomeCommand(Plan& plan, int failurePipe)
{
    constexpr int clear = 10;
    ::setsid();
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL);
    // When memory runs out, commands go before process 1.
    if (const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
        (void)!::write(score, "300", 3);
        ::close(score);
    }
    const int failure = ::fcntl(failurePipe, F_DUPFD_CLOEXEC, clear);
    const int output = ::fcntl(plan.output.get(), F_DUPFD_CLOEXEC, clear);
    const int input = plan.pty ? output : ::fcntl(plan.input.get(), F_DUPFD_CLOEXEC, clear);
    const int errors = plan.pty ? output : ::fcntl(plan.errors.get(), F_DUPFD_CLOEXEC, clear);
    const int socket = plan.socket.valid() ? ::fcntl(plan.socket.get(), F_DUPFD_CLOEXEC, clear) : -1;
    if (plan.pty)
        ::ioctl(output, TIOCSCTTY, 0);
    ::dup2(input, 0);
    ::dup2(output, 1);
    ::dup2(errors, 2);
    if (socket >= 0)
        ::dup2(socket, socketInChild);
    int reason = 0;
    if (::chdir(plan.folder.c_str()) != 0) {
        reason = -errno;
    } else {
        reason = ENOENT;
        for (const std::string& candidate : plan.candidates) {
            ::execve(candidate.c_str(), plan.argv.data(), plan.env.data());
            if (errno != ENOENT && errno != ENOTDIR)
                reason = errno;
        }
    }
    (void)!::write(failure, &reason, sizeof reason);
    ::_exit(notFound);
}

} // namespace

Result<Child> spawn(const Json& request)
{
    Plan plan;
    Child child;
    GB_TRY(readWords(request, plan));
    GB_TRY(openStreams(request, plan, child));
    UniqueFd failureRead;
    UniqueFd failureWrite;
    GB_TRY(pipePair(failureRead, failureWrite));
    child.pid = ::fork();
    if (child.pid < 0)
        return failErrno("cannot start", plan.words.front(), errno);
    if (child.pid == 0)
        becomeCommand(plan, failureWrite.get());
    failureWrite.reset();
    int reason = 0;
    if (::read(failureRead.get(), &reason, sizeof reason) == static_cast<ssize_t>(sizeof reason)) {
        if (reason < 0)
            return failErrno("cannot enter", plan.folder, -reason);
        return failErrno("cannot run", plan.words.front(), reason);
    }
    return child;
}

} // namespace gb::init
