// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "session.h"

#include <csignal>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

#include <QCoreApplication>
#include <QEventLoop>
#include <QSocketNotifier>
#include <QTimer>

#include <backend/base/ids.h>

namespace gb::cli {
namespace {

int interruptPipe[2] = {-1, -1};
volatile std::sig_atomic_t interruptSeen = 0;

void noteInterrupt(int)
{
    interruptSeen = 1;
    const char byte = 0;
    // A full pipe is as good: the notifier fires either way.
    [[maybe_unused]] const auto written = ::write(interruptPipe[1], &byte, 1);
}

} // namespace

void catchInterrupts()
{
    if (interruptPipe[0] >= 0 || ::pipe2(interruptPipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    struct sigaction action
    { };
    action.sa_handler = noteInterrupt;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

bool wasInterrupted()
{
    return interruptSeen != 0;
}

void forgetInterrupt()
{
    char bytes[64];
    while (::read(interruptPipe[0], bytes, sizeof bytes) > 0) { }
    interruptSeen = 0;
}

void onInterrupt(QObject* guard, std::function<void()> action)
{
    catchInterrupts();
    auto* notifier = new QSocketNotifier(interruptPipe[0], QSocketNotifier::Read, guard);
    QObject::connect(notifier, &QSocketNotifier::activated, guard, [notifier, action = std::move(action)] {
        // The byte stays in the pipe, so that everyone who waits sees it.
        notifier->setEnabled(false);
        action();
    });
}

Session::Session(bool startDaemon)
    : m_client(
        {.dataFolder = {}, .name = "cli", .startDaemon = startDaemon, .reconnect = false, .program = {}})
{
    catchInterrupts();
}

Status Session::waitUntil(const std::function<bool()>& done)
{
    QObject guard;
    QEventLoop loop;
    bool interrupted = wasInterrupted();
    onInterrupt(&guard, [&] {
        interrupted = true;
        loop.quit();
    });
    while (!interrupted && !done())
        loop.processEvents(QEventLoop::WaitForMoreEvents);
    if (interrupted && !done())
        return fail("interrupted", "interrupted");
    return {};
}

Status Session::pause(int milliseconds)
{
    QTimer timer;
    timer.setSingleShot(true);
    timer.start(milliseconds);
    return waitUntil([&timer] { return !timer.isActive(); });
}

Status Session::connect()
{
    if (m_connected)
        return {};
    QObject::disconnect(&m_client, nullptr, &m_guard, nullptr); // of an earlier daemon
    m_lost.reset();
    std::optional<Error> failure;
    QObject::connect(&m_client, &api::Client::connected, &m_guard, [this] { m_connected = true; });
    QObject::connect(
        &m_client, &api::Client::disconnected, &m_guard, [&](const Error& error) { failure = error; });
    m_client.open();
    GB_TRY(waitUntil([&] { return m_connected || failure; }));
    QObject::disconnect(&m_client, &api::Client::disconnected, &m_guard, nullptr);
    if (failure)
        return fail(*failure);
    QObject::connect(
        &m_client, &api::Client::disconnected, &m_guard, [this](const Error& error) { m_lost = error; });
    return {};
}

Result<api::Client::Answer> Session::call(const std::string& method, Json params, std::string attachment)
{
    GB_TRY(connect());
    std::optional<Result<api::Client::Answer>> answer;
    const qint64 request = m_client.call(
        &m_guard, method, std::move(params),
        [&answer](Result<api::Client::Answer> came) { answer = std::move(came); }, std::move(attachment));
    if (const Status waited = waitUntil([&] { return answer.has_value(); }); !waited) {
        m_client.cancelRequest(request);
        return fail(waited.error());
    }
    return std::move(*answer);
}

Result<api::Client::Answer> Session::callThrough(
    const std::string& method, Json params, const std::function<void()>& lost)
{
    constexpr int mostDaemons = 5; // one that keeps dying is not there
    params["op"] = newId();
    for (int daemon = 1;; ++daemon) {
        auto answer = call(method, params);
        if (answer || answer.error().code != "api.disconnected" || daemon == mostDaemons)
            return answer;
        lost();
        m_connected = false;
    }
}

Result<Json> Session::waitForJob(const std::string& job, const std::function<void(const Json& item)>& changed)
{
    m_client.watch({"jobs"});
    const Status waited = waitUntil([&] {
        const Json& items = m_client.items("jobs");
        if (m_lost)
            return true;
        if (!items.contains(job))
            return false;
        if (changed)
            changed(items[job]);
        const std::string state = stringOr(items[job], "state");
        return state != "queued" && state != "running";
    });
    if (!waited)
        return fail(waited.error());
    if (m_lost)
        return fail("api.disconnected", "the daemon went away while this was under way",
            Json{{"job", job}, {"reason", m_lost->message}});
    const auto ended = call("jobs.get", Json{{"job", job}});
    if (!ended)
        return fail(ended.error());
    if (ended->body.contains("error"))
        return fail(Error::fromJson(objectOr(ended->body, "error")));
    return objectOr(ended->body, "result");
}

} // namespace gb::cli
