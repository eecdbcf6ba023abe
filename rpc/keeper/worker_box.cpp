// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "worker_box.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>

#include <backend/base/json.h>
#include <rpc/protocol/descriptors.h>
#include <rpc/protocol/message.h>

namespace gb::rpc {
namespace {

constexpr const char* packageInside = "/run/glovebox/worker/glovebox_worker";
constexpr std::int64_t touchEvery = 1000;

} // namespace

Result<UniqueFd> connectToSandbox(const std::string& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return fail("host.socket_path", "the path of a socket may have 107 bytes: " + path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd.valid() && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        return fd;
    if (errno == ENOENT || errno == ECONNREFUSED)
        return fail("sandbox.gone", "the sandbox does not run any more");
    return failErrno("cannot reach the keeper of the sandbox at", path, errno);
}

Result<std::unique_ptr<BoxWorker>> BoxWorker::start(
    Loop& loop, const HostConfig& config, Linked linked, Handlers handlers)
{
    auto fd = connectToSandbox(config.workerVia);
    if (!fd)
        return fail(fd.error());
    std::unique_ptr<BoxWorker> worker(new BoxWorker(loop, config, std::move(linked), std::move(handlers)));
    BoxWorker* self = worker.get();
    worker->m_socket =
        FrameSocket::create(loop, std::move(*fd), FrameLimits{}, FrameSocket::Descriptors::Accepted,
            {[self](std::string& json, const SharedText& attachment) { self->frame(json, attachment); },
                [self](const std::string&) { self->endWithSandbox({}); }});
    worker->begin();
    return worker;
}

BoxWorker::~BoxWorker()
{
    *m_alive = false;
    m_loop.cancelTimer(m_touchTimer);
    m_socket->close();
}

void BoxWorker::begin()
{
    bringFile([this](const Status& brought) {
        if (!brought)
            return m_linked.refused(brought.error());
        ask("box.worker", {{"python", m_config.python}, {"package", packageInside}},
            [this](const Result<Json>& result) {
                if (!result)
                    return m_linked.refused(result.error());
                takeLink(*result);
            });
    });
}

void BoxWorker::takeLink(const Json& result)
{
    auto descriptors = m_socket->takeDescriptors(1);
    if (descriptors.empty() || !isStreamSocket(descriptors.front().get()))
        return m_linked.refused(
            {"sandbox.no_descriptor", "the keeper of the sandbox sent no link to the worker"});
    m_pid = static_cast<int>(integerOr(result, "pid", -1));
    m_linked.linked(std::move(descriptors.front()), objectOr(result, "env"));
}

void BoxWorker::bringFile(std::function<void(const Status&)> done)
{
    ask("box.put", {{"path", m_config.interfaceForWorker()}, {"file", m_config.interface.string()}},
        [done = std::move(done)](
            const Result<Json>& put) { done(put ? Status() : Status(fail(put.error()))); });
}

void BoxWorker::ask(const char* method, const Json& params, Answered answered)
{
    const std::int64_t id = m_nextId++;
    m_asked[id] = std::move(answered);
    m_socket->send(encodeRequest(id, method, params));
}

void BoxWorker::frame(std::string& json, const SharedText& attachment)
{
    const auto message = decodeMessage(json);
    if (!message)
        return;
    if (message->kind == Message::Kind::Notification)
        return notified(message->method, message->body, attachment.view());
    const auto found = m_asked.find(message->id);
    if (found == m_asked.end() || message->kind == Message::Kind::Request)
        return;
    const Answered answered = std::move(found->second);
    m_asked.erase(found);
    answered(message->kind == Message::Kind::Answer ? Result<Json>(message->body) : fail(message->error));
}

void BoxWorker::notified(std::string_view method, const Json& params, std::string_view bytes)
{
    if (method == "box.worker_output") {
        const bool errors = stringOr(params, "stream") == "stderr";
        if (errors)
            m_lastLines.add(bytes);
        m_handlers.output(errors ? "stderr" : "stdout", bytes);
    } else if (method == "box.worker_exit") {
        WorkerExit exit;
        exit.signal = static_cast<int>(integerOr(params, "signal"));
        exit.code = exit.signal == 0 ? static_cast<int>(integerOr(params, "code")) : 0;
        exit.mostMemory = integerOr(params, "most_memory");
        exit.outOfMemory = boolOr(params, "out_of_memory") && !m_killed;
        end(exit);
    } else if (method == "box.ended") {
        endWithSandbox(stringOr(params, "reason"));
    }
}

void BoxWorker::endWithSandbox(std::string_view reason)
{
    WorkerExit exit;
    exit.signal = SIGKILL;
    exit.sandboxGone = true;
    exit.outOfMemory = reason == "memory";
    end(exit);
}

void BoxWorker::end(const WorkerExit& exit)
{
    if (std::exchange(m_ended, true))
        return;
    WorkerExit told = exit;
    told.lastLines = m_lastLines.lines();
    // The handler usually destroys this object, which must not happen in the middle of a frame.
    m_loop.post([alive = m_alive, handler = m_handlers.exited, told] {
        if (*alive)
            handler(told);
    });
}

void BoxWorker::kill(int signal)
{
    m_killed = true;
    sendSignal(signal);
}

void BoxWorker::killRest()
{
    sendSignal(SIGKILL);
}

void BoxWorker::sendSignal(int signal)
{
    if (m_pid > 0)
        return ask("box.worker_signal", {{"signal", signal}}, [](const Result<Json>&) {});
    WorkerExit exit;
    exit.signal = signal;
    end(exit);
}

void BoxWorker::setBusy(bool busy)
{
    m_busy = busy;
    m_used = true;
    if (m_touchTimer == 0)
        touch();
}

// At most once a second, and again for as long as a call runs.
void BoxWorker::touch()
{
    m_touchTimer = 0;
    if (!m_busy && !m_used)
        return;
    m_used = false;
    ask("box.touch", {{"busy", m_busy}}, [](const Result<Json>&) {});
    m_touchTimer = m_loop.after(touchEvery, [this] { touch(); });
}

} // namespace gb::rpc
