// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "isolationproof.h"

#include <algorithm>
#include <cerrno>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <backend/base/clock.h>
#include <backend/base/ids.h>

#include "ownpython.h"

namespace gb {
namespace {

constexpr std::size_t processesInside = 2; // init and the shell that looks
constexpr const char* shownInside = "/run/glovebox/shown";

// What is looked for: a folder that is shown read-only, one that is not shown at all, a process, a server.
struct Bait
{
    fs::path folder;
    std::string word = newId();
    UniqueFd tcp;
    int port = 0;

    fs::path shown() const { return folder / "shown"; }
    fs::path hidden() const { return folder / "hidden"; }
};

Status layOut(Bait& bait)
{
    std::error_code ignored;
    fs::remove_all(bait.folder, ignored);
    GB_TRY(ensurePrivateDir(bait.folder));
    fs::create_directories(bait.shown(), ignored);
    GB_TRY(writeFileAtomic(bait.hidden(), bait.word));
    GB_TRY(writeFileAtomic(bait.shown() / "file", bait.word));
    bait.tcp.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(bait.tcp.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0
        || ::listen(bait.tcp.get(), 4) != 0
        || ::getsockname(bait.tcp.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return failErrno("cannot listen on", "127.0.0.1", errno);
    bait.port = ntohs(address.sin_port);
    return {};
}

bool connectsToPort(int port)
{
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::size_t processesHere()
{
    std::error_code error;
    std::size_t count = 0;
    for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error))
        count +=
            it->path().filename().string().find_first_not_of("0123456789") == std::string::npos ? 1U : 0U;
    return count;
}

bool writes(const fs::path& file)
{
    const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    return fd.valid() && ::write(fd.get(), "x", 1) == 1;
}

LaunchSpec smallSandbox(const Bait& bait, const fs::path& store)
{
    LaunchSpec spec;
    spec.store = store;
    spec.binds = {{"/usr", "/usr"}, {bait.shown().string(), shownInside}};
    spec.links = ownPythonLinks();
    constexpr std::int64_t small = 1L << 20;
    spec.tmpfs = {{"/tmp", small, 01777}, {"/run", small, 0755}};
    spec.readOnlyRoot = true;
    return spec;
}

// Words for what was possible, one a line; "looked" and the word of the file that is shown prove that the
// shell ran and can read and write at all.
// Where the isolation fails, this changes nothing but our own file.
std::string script(const Bait& bait)
{
    return "cat " + std::string(shownInside) + "/file; echo; (: > /run/own) && echo looked; " + "[ -e '"
        + bait.hidden().string() + "' ] && echo files; [ -e /etc/shadow ] && echo files; " + "(: >> "
        + shownInside + "/file) 2>/dev/null && echo writing; " + "[ -w /usr ] && echo writing; "
        + "set -- /proc/[0-9]*; [ $# -le " + std::to_string(processesInside) + " ] || echo processes; "
        + "cat /proc/1/environ >/dev/null 2>&1 && echo 'process 1'; "
        + "[ -w /proc/sys/kernel/core_pattern ] && echo kernel; "
        + "unshare -U true 2>/dev/null && echo namespaces; "
        + "[ \"$(grep -c : /proc/net/dev)\" = 1 ] || echo network; true";
}

std::vector<std::string> linesOf(const std::string& text)
{
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

struct Seen
{
    std::vector<std::string> inside;
    std::size_t processesOutside = 0;
};

Result<Seen> lookInside(const Bait& bait, const fs::path& store, const LaunchTools& tools)
{
    auto running = launchSandbox(smallSandbox(bait, store), tools);
    if (!running)
        return fail(running.error());
    ExecSpec look;
    look.argv = {"/bin/sh", "-c", script(bait)};
    look.env = {{"PATH", "/usr/bin:/bin"}};
    const auto seen = (*running)->init().run(look);
    if (!seen)
        return fail(seen.error());
    auto lines = linesOf(seen->output);
    if (std::ranges::find(lines, bait.word) == lines.end()
        || std::ranges::find(lines, "looked") == lines.end())
        return fail("sandbox.not_isolated", "the sandbox that was to prove it did not work: " + seen->errors);
    if ((*running)->init().connectPort(bait.port))
        lines.emplace_back("network");
    return Seen{std::move(lines), processesHere()};
}

} // namespace

Json IsolationProof::toJson() const
{
    Json json{
        {"kernel", kernel}, {"bwrap", bwrap}, {"at", at}, {"passed", isPassed()}, {"checks", Json::array()}};
    for (const IsolationCheck& check : checks)
        json["checks"].push_back({{"name", check.name}, {"denied_inside", !check.isPossibleInside},
            {"possible_outside", check.isPossibleOutside}});
    if (!failure.empty())
        json["failure"] = failure;
    return json;
}

std::string kernelHere()
{
    utsname name{};
    ::uname(&name);
    return std::string(name.release) + " " + name.version; // NOLINT: the kernel's arrays of characters
}

std::string bwrapHere()
{
    for (const char* place : {"/usr/local/bin/bwrap", "/usr/bin/bwrap", "/bin/bwrap"}) {
        struct stat info
        { };
        if (::stat(place, &info) == 0)
            return std::string(place) + " " + std::to_string(info.st_size) + " "
                + std::to_string(info.st_mtim.tv_sec);
    }
    return {};
}

IsolationProof tryIsolation(const fs::path& folder, const fs::path& store, const LaunchTools& tools)
{
    IsolationProof proof;
    proof.kernel = kernelHere();
    proof.bwrap = bwrapHere();
    proof.at = wallMs();
    Bait bait;
    bait.folder = folder;
    const Status ready = layOut(bait);
    const auto seen = ready ? lookInside(bait, store, tools) : Result<Seen>(fail(ready.error()));
    if (!seen) {
        proof.failure = seen.error().message;
        return proof;
    }
    const auto isSeen = [&](const char* what) {
        return std::ranges::find(seen->inside, what) != seen->inside.end();
    };
    proof.checks = {{"files", readFile(bait.hidden()).value_or("") == bait.word, isSeen("files")},
        {"writing", writes(bait.shown() / "file"), isSeen("writing")},
        {"processes", seen->processesOutside > processesInside, isSeen("processes")},
        {"network", connectsToPort(bait.port), isSeen("network")},
        {"process 1", readFile("/proc/self/environ").has_value(), isSeen("process 1")},
        // The launcher made one for this sandbox.
        {"namespaces", true, isSeen("namespaces")}};
    // Only root can outside.
    if (constexpr const char* file = "/proc/sys/kernel/core_pattern";
        ::access(file, W_OK) == 0 || isSeen("kernel"))
        proof.checks.push_back({"kernel", true, isSeen("kernel")});
    for (const IsolationCheck& check : proof.checks) {
        if (!check.isPossibleOutside)
            proof.failure +=
                (proof.failure.empty() ? "" : ", ") + check.name + " cannot be tried on this machine";
        else if (check.isPossibleInside)
            proof.failure += (proof.failure.empty() ? "" : ", ") + check.name + " can be reached from inside";
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return proof;
}

} // namespace gb
