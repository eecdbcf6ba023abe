// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxdaemon.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <QCoreApplication>
#include <QTimer>

#include <backend/base/clock.h>
#include <backend/base/paths.h>

namespace gb::bench {

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

double msSince(std::int64_t beginNs)
{
    constexpr double nsPerMs = 1e6;
    return static_cast<double>(monotonicNs() - beginNs) / nsPerMs;
}

void giveUp(const Error& error)
{
    std::fprintf(stderr, "%s: %s\n", error.code.c_str(), error.message.c_str());
    std::exit(1);
}

SandboxDaemon::SandboxDaemon(const fs::path& dataFolder)
    : m_data(dataFolder), m_client({dataFolder, "bench", true, false, {}})
{
    QObject::connect(&m_client, &api::Client::notified, &m_client,
        [this](const QString& method) { m_exits += method == QLatin1String("sandboxes.exit") ? 1 : 0; });
    QObject::connect(
        &m_client, &api::Client::disconnected, &m_client, [](const Error& error) { giveUp(error); });
    m_client.open();
    spinUntil([this] { return m_client.state() == api::Client::State::Connected; });
}

SandboxDaemon::~SandboxDaemon()
{
    const auto pid = static_cast<pid_t>(integerOr(m_client.daemonInfo(), "pid"));
    m_client.disconnect(&m_client);
    m_client.close();
    ::kill(pid, SIGTERM);
    std::error_code ignored;
    if (const auto sockets = socketFolder(m_data))
        fs::remove_all(*sockets, ignored);
}

void SandboxDaemon::spinUntil(const std::function<bool()>& condition) const
{
    while (!condition())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

Json SandboxDaemon::call(const std::string& method, Json params)
{
    std::optional<Result<api::Answer>> answer;
    m_client.call(&m_client, method, std::move(params),
        [&answer](const Result<api::Answer>& given) { answer = given; });
    spinUntil([&answer] { return answer.has_value(); });
    if (!*answer)
        giveUp((*answer).error());
    return (*answer)->body;
}

std::string SandboxDaemon::start(const Json& spec)
{
    std::string id = stringOr(call("sandboxes.start", Json{{"spec", spec}}), "sandbox");
    // A change of state is shown ten times a second, so it is asked for.
    for (std::string state; state != "ready";) {
        state = stringOr(call("sandboxes.get", Json{{"sandbox", id}}), "state");
        if (state == "failed" || state == "stopped")
            giveUp({"bench", "the sandbox did not start: " + state, {}});
        bool waited = state == "ready";
        if (!waited)
            QTimer::singleShot(1, Qt::PreciseTimer, &m_client, [&waited] { waited = true; });
        spinUntil([&waited] { return waited; });
    }
    return id;
}

void SandboxDaemon::runTrue(const std::string& sandbox)
{
    const int before = m_exits;
    (void)call("sandboxes.exec", Json{{"sandbox", sandbox}, {"argv", {"/bin/true"}}});
    spinUntil([this, before] { return m_exits > before; });
}

void SandboxDaemon::stop(const std::string& sandbox)
{
    const std::string job = stringOr(call("sandboxes.stop", Json{{"sandbox", sandbox}}), "job");
    for (std::string state = "running"; state == "running" || state == "queued";)
        state = stringOr(call("jobs.get", Json{{"job", job}}), "state");
    (void)call("sandboxes.rm", Json{{"sandbox", sandbox}});
}

double SandboxDaemon::startMs(const Json& spec)
{
    constexpr int rounds = 11;
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        const auto begin = monotonicNs();
        const std::string id = start(spec);
        runTrue(id);
        times.push_back(msSince(begin));
        stop(id);
    }
    return median(times);
}

double SandboxDaemon::execMs(const Json& spec, int rounds)
{
    const std::string id = start(spec);
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        const auto begin = monotonicNs();
        runTrue(id);
        times.push_back(msSince(begin));
    }
    stop(id);
    return median(times);
}

} // namespace gb::bench
