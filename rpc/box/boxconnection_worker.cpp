// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <deque>
#include <mutex>

#include <backend/base/json.h>

#include "boxconnection.h"

// The worker of an interface: a process inside whose link goes to whoever asked, so that its traffic passes
// neither the keeper nor init. One per connection, and it ends with it.
namespace gb::rpc {
namespace {

constexpr const char* speedFolder = "/run/glovebox/speed";

bool hasSpeed(const LaunchSpec& launch)
{
    for (const BindSpec& bind : launch.binds) {
        if (bind.target == speedFolder)
            return true;
    }
    return false;
}

} // namespace

// What its process prints waits here between the thread of init's link and the loop.
struct BoxConnection::Worker
{
    static constexpr std::size_t mostWaiting = 4U << 20U;

    std::shared_ptr<SandboxCommand> command;
    std::mutex mutex;
    std::deque<std::pair<std::string, std::string>> printed;
    std::size_t bytes = 0;
    bool posted = false;
    std::int64_t memoryKills = 0; // when it began
};

void BoxConnection::worker(std::int64_t id, const Json& params, SharedText)
{
    const std::string package = stringOr(params, "package");
    if (m_worker)
        return refuse(id, {"sandbox.busy", "this connection already has a worker"});
    if (package.empty())
        return refuse(id, {"params.missing", "\"package\" must be the worker's folder inside"});
    ExecSpec spec;
    spec.argv = {stringOr(params, "python", m_box.config().python), "-X", "utf8", package + "/__main__.py",
        "--fd", "3"};
    if (hasSpeed(m_box.config().launch))
        spec.argv.insert(spec.argv.end(), {"--speed", speedFolder});
    // Without secrets: those are told over its link once nobody can read them from its memory.
    spec.env = m_box.config().environment;
    spec.folder = "/workspace";
    spec.socket = true;
    spec.outputLimit = 0;
    spec.outputInRecord = false;
    const auto worker = std::make_shared<Worker>();
    worker->memoryKills = m_box.memoryKills();
    const auto changed = [weak = weak_from_this(), loop = &m_box.loop(), worker](
                             std::string_view stream, std::string_view bytes) {
        const std::lock_guard lock(worker->mutex);
        if (worker->bytes + bytes.size() <= Worker::mostWaiting) {
            worker->bytes += bytes.size();
            if (!bytes.empty())
                worker->printed.emplace_back(stream, bytes);
        }
        if (std::exchange(worker->posted, true))
            return;
        loop->post([weak] {
            if (const auto self = weak.lock())
                self->workerChanged();
        });
    };
    spec.onOutput = changed;
    spec.onEnd = [changed] { changed("stdout", {}); };
    m_worker = worker;
    m_box.limits().used();
    inBackground(
        m_box.threads(), [init = &m_box.init(), spec = std::move(spec)] { return init->start(spec); },
        [weak = weak_from_this(), worker, id, threads = &m_box.threads()](
            const Result<std::shared_ptr<SandboxCommand>>& started) {
            const auto self = weak.lock();
            if (started && (!self || self->m_worker != worker))
                return threads->run([command = *started] { (void)command->signal(SIGKILL); }, [] {});
            if (!self)
                return;
            if (started)
                return self->workerStarted(id, *started);
            self->m_worker.reset();
            self->refuse(id, started.error());
        });
}

void BoxConnection::workerStarted(std::int64_t id, const std::shared_ptr<SandboxCommand>& command)
{
    m_worker->command = command;
    Json secrets = Json::object();
    for (const auto& [name, value] : m_box.config().secrets)
        secrets[name] = value;
    m_socket->sendWithDescriptor(
        encodeAnswer(id, {{"pid", command->pid()}, {"env", secrets}, {"fd", true}}), command->takeSocket());
    workerChanged();
}

void BoxConnection::workerChanged()
{
    constexpr std::size_t ahead = 8U << 20U;
    if (!m_worker || !m_worker->command)
        return; // told when it has started
    const auto worker = m_worker;
    // Before its output is taken: when it has ended by now, everything it printed is there.
    const auto outcome = worker->command->wait(0);
    std::deque<std::pair<std::string, std::string>> printed;
    {
        const std::lock_guard lock(worker->mutex);
        printed.swap(worker->printed);
        worker->bytes = 0;
        worker->posted = false;
    }
    for (auto& [stream, bytes] : printed) {
        if (m_socket->unsent() < ahead)
            notify("box.worker_output", {{"stream", stream}}, std::move(bytes));
    }
    if (!outcome)
        return;
    const bool known = outcome->has_value();
    const int ended = known ? (*outcome)->signal : SIGKILL;
    Json exit{{"code", known ? (*outcome)->code : -1}, {"signal", ended},
        {"most_memory", known ? (*outcome)->mostMemory : 0}};
    if (ended == SIGKILL && m_box.memoryKills() > worker->memoryKills)
        exit["out_of_memory"] = true;
    notify("box.worker_exit", exit);
    endWorker();
}

void BoxConnection::signalWorker(std::int64_t id, const Json& params, SharedText)
{
    const auto number = static_cast<int>(integerOr(params, "signal", SIGKILL));
    if (!m_worker || !m_worker->command)
        return refuse(id, {"sandbox.no_worker", "this connection has no worker"});
    ask(
        m_box.threads(), id, [command = m_worker->command, number] { return command->signal(number); },
        [id](BoxConnection& self, const Status&) { self.answer(id, Json::object()); });
}

void BoxConnection::endWorker()
{
    const auto worker = std::exchange(m_worker, nullptr);
    if (!worker || !worker->command)
        return;
    // The command's callbacks hold the worker, so this is also where the two let go of each other.
    const auto command = std::exchange(worker->command, nullptr);
    if (!command->wait(0))
        m_box.threads().run([command] { (void)command->signal(SIGKILL); }, [] {});
}

} // namespace gb::rpc
