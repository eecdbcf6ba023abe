// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "box.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <backend/base/clock.h>
#include <backend/base/json.h>
#include <backend/base/log.h>
#include <backend/base/version.h>
#include <rpc/keeper/worker_process.h>
#include <rpc/launch/processorchoice.h>

namespace gb::rpc {
namespace {

constexpr std::size_t questionThreads = 6;
constexpr std::size_t transferThreads = 3;
constexpr std::int64_t graceMs = 200;

Json namesOf(const std::map<std::string, std::string>& texts)
{
    Json names = Json::array();
    for (const auto& [name, value] : texts)
        names.push_back(name);
    return names;
}

// Whatever the launcher left behind becomes our child when its parent dies, so "nothing runs" can be known.
void reapEverything()
{
    constexpr std::int64_t patienceNs = 5'000'000'000;
    const std::int64_t deadline = monotonicNs() + patienceNs;
    while (monotonicNs() < deadline) {
        const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
        if (reaped < 0 && errno != EINTR)
            return; // no children left
        if (reaped == 0)
            ::poll(nullptr, 0, 1);
    }
    logError("box", "a process of the sandbox did not end");
}

// What was refused stands in the keeper's log and in the one people read.
void tellRefused(const fs::path& log, const std::string& place, const std::string& why)
{
    logWarning("network", "refused", {{"place", place}, {"why", why}});
    constexpr mode_t onlyOurs = 0600;
    const UniqueFd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, onlyOurs));
    const std::string line = "network: refused " + place + ": " + why + "\n";
    (void)!::write(file.get(), line.data(), line.size());
}

// Servers inside are not asked for through the proxy, except under a name that is on the list: then it is one
// out here that was meant.
std::string placesInside(const NetworkRules& rules)
{
    std::string places;
    for (const std::string place : {"localhost", "127.0.0.1", "::1"}) {
        const bool isOutside =
            std::ranges::any_of(rules.hosts, [&](const NetworkRule& rule) { return rule.host == place; });
        if (!isOutside)
            places += (places.empty() ? "" : ",") + place;
    }
    return places;
}

} // namespace

Box::Box(Loop& loop, BoxConfig config)
    : m_loop(loop), m_config(std::move(config)), m_startedAt(wallMs()), m_threads(loop, questionThreads),
      m_transfers(loop, transferThreads)
{ }

Status Box::prepareFolders() const
{
    GB_TRY(ensurePrivateDir(m_config.folder()));
    GB_TRY(ensurePrivateDir(m_config.folder() / "commands"));
    std::error_code ignored;
    fs::remove(m_config.folder() / "ended.json", ignored);
    return {};
}

Result<std::unique_ptr<Box>> Box::start(Loop& loop, BoxConfig config, fs::path socketFolder)
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::unique_ptr<Box> box(new Box(loop, std::move(config)));
    GB_TRY(box->prepareFolders());
    const fs::path spool = box->m_config.folder() / "commands";
    GB_TRY(box->launch(spool));
    GB_TRY(box->openNetwork());
    Box* self = box.get();
    InitClient& init = box->init();
    box->m_commands = std::make_unique<BoxCommands>(
        loop, init, box->m_threads, spool, [self](const BoxCommandPtr& command) {
            if (command->exited())
                self->m_limits->used();
            if (command->exited() && !command->isLost())
                self->m_killsSeen = self->memoryKills();
            for (BoxObserver* observer : self->m_observers)
                observer->commandChanged(command);
        });
    box->m_ports = std::make_unique<BoxPorts>(loop, init, std::move(socketFolder));
    const auto memory = box->groupKeeps(ControlGroup::Limit::Memory) ? BoxLimits::Memory::Enforced
                                                                     : BoxLimits::Memory::Watched;
    box->m_limits = std::make_unique<BoxLimits>(loop, box->m_config, memory, init, box->m_threads,
        BoxLimits::Handlers{
            [self] { return self->m_commands->running() > 0 || self->m_ports->connections() > 0; },
            [self](const char* reason, std::int64_t seconds) {
                for (BoxObserver* observer : self->m_observers)
                    observer->ending(reason, seconds);
            },
            [self](const char* reason) { self->end(reason); }});
    box->m_disk = std::make_unique<BoxDisk>(
        loop, box->m_config, box->m_threads, [self](const char* reason) { self->end(reason); });
    box->watchEnd();
    return box;
}

// In groups of its own where there can be some, also without limits: however many processes it starts, they
// then share what one would get. Without groups its memory is watched and its processors are chosen.
Status Box::launch(const fs::path& spool)
{
    const LaunchTools tools = LaunchTools::besideThisProgram();
    m_group = ControlGroup::create(m_config.id, {m_config.memory, m_config.cpu, m_config.launch.processes});
    auto running = launchSandbox(limitedLaunch(), tools, spool);
    if (!running && m_group
        && std::ranges::count(m_group->entrances(), stringOr(running.error().data, "subject")) > 0) {
        logWarning("box", "the sandbox may not enter its control group", running.error().toJson());
        m_group.reset();
        running = launchSandbox(limitedLaunch(), tools, spool);
    }
    if (!running)
        return fail(running.error());
    m_running = std::move(*running);
    return {};
}

// The listening socket is made inside, where nothing else is; who takes what comes there is out here.
Status Box::openNetwork()
{
    if (!m_config.network)
        return {};
    auto door = init().listenPort();
    if (!door)
        return fail(door.error());
    NetworkProxy::Options options;
    options.rules = *m_config.network;
    options.onRefused = [log = m_config.folder() / "start.log"](const std::string& place,
                            const std::string& why) { tellRefused(log, place, why); };
    auto proxy = NetworkProxy::start(std::move(door->socket), std::move(options));
    if (!proxy)
        return fail(proxy.error());
    m_network = std::move(*proxy);
    const std::string url = "http://127.0.0.1:" + std::to_string(door->port);
    for (const char* name :
        {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"})
        m_config.environment.emplace(name, url);
    const std::string inside = placesInside(*m_config.network);
    for (const char* name : {"NO_PROXY", "no_proxy"})
        m_config.environment.emplace(name, inside);
    return {};
}

Box::~Box()
{
    if (m_running)
        m_running->stop(0);
}

void Box::watchEnd()
{
    m_pidFd.reset(static_cast<int>(::syscall(SYS_pidfd_open, m_running->pid(), 0)));
    m_loop.watch(m_pidFd.get(), EPOLLIN, [this](std::uint32_t) { end(endReason()); });
}

// The kernel may have ended commands long before; it ended the sandbox only when process 1, or bwrap that
// tells of it, was killed and that is not yet accounted for.
const char* Box::endReason() const
{
    constexpr int killed = 128 + SIGKILL;
    siginfo_t info{};
    const bool isKnown =
        ::waitid(P_PID, static_cast<id_t>(m_running->pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    const bool wasKilled =
        isKnown && (info.si_code == CLD_EXITED ? info.si_status == killed : info.si_status == SIGKILL);
    return wasKilled && groupKeeps(ControlGroup::Limit::Memory) && m_group->killed() > m_killsSeen ? "memory"
                                                                                                   : "exited";
}

LaunchSpec Box::limitedLaunch() const
{
    LaunchSpec launch = m_config.launch;
    if (m_group)
        launch.groups = m_group->entrances();
    if (m_config.cpu > 0 && !groupKeeps(ControlGroup::Limit::Cpu))
        launch.processors = chooseProcessors(m_config.cpu, m_config.id);
    return launch;
}

const char* Box::cpuState() const
{
    return m_config.cpu <= 0 ? "none" : groupKeeps(ControlGroup::Limit::Cpu) ? "enforced" : "pinned";
}

std::int64_t Box::memoryKills() const
{
    return groupKeeps(ControlGroup::Limit::Memory) ? m_group->killed() : rpc::memoryKills();
}

Json Box::hello() const
{
    Json json{{"protocol", 1}, {"build", version()}, {"id", m_config.id}, {"nonce", m_config.nonce},
        {"name", m_config.name}, {"pid", ::getpid()}, {"started_at", m_startedAt},
        {"state", m_ended ? "stopping" : "ready"}, {"idle_timeout", m_config.idleTimeout},
        {"environment", namesOf(m_config.environment)}, {"secrets", namesOf(m_config.secrets)},
        {"limits", {{"memory", m_limits->memoryState()}, {"cpu", cpuState()}, {"disk", m_disk->state()}}},
        {"python", m_config.python}};
    if (m_limits->endsAt() > 0)
        json["ends_at"] = m_limits->endsAt();
    return json;
}

std::map<std::string, std::string> Box::commandEnvironment() const
{
    std::map<std::string, std::string> environment = m_config.environment;
    if (m_config.secretsInExec) {
        for (const auto& [name, value] : m_config.secrets)
            environment[name] = value;
    }
    return environment;
}

void Box::end(const char* reason)
{
    if (m_ended)
        return;
    m_ended = true;
    m_disk->leave();
    logInfo("box", "the sandbox ends", {{"id", m_config.id}, {"reason", reason}});
    m_running->stop(graceMs);
    reapEverything();
    m_group.reset();
    const Json text{{"reason", reason}, {"at", wallMs()}};
    if (const auto written = writeFileAtomic(m_config.folder() / "ended.json", text.dump() + "\n", 0600);
        !written)
        logError("box", written.error().message);
    for (BoxObserver* observer : m_observers)
        observer->ended(reason);
    // Time for the last messages to leave.
    constexpr std::int64_t lastTurn = 20;
    m_loop.after(lastTurn, [this] { m_loop.stop(); });
}

} // namespace gb::rpc
