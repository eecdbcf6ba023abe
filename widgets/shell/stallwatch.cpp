// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "stallwatch.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include <execinfo.h>
#include <pthread.h>

#include <QAbstractEventDispatcher>

#include <backend/base/log.h>

namespace gb::ui {
namespace {

constexpr std::int64_t stallNs = 50'000'000;
constexpr auto stallLookEvery = std::chrono::milliseconds(20);
constexpr int stallFrames = 48;

// What the handler may touch; one watch at a time.
std::array<void*, stallFrames> stallStack;
std::atomic<int> stallDepth = -1;

int stallSignal()
{
    return SIGRTMIN + 5;
}

void takeStack(int /*signal*/)
{
    const int before = errno;
    stallDepth = backtrace(stallStack.data(), stallFrames);
    errno = before;
}

std::int64_t steadyNs()
{
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

std::string stackText()
{
    const int depth = stallDepth;
    char** lines = depth > 0 ? backtrace_symbols(stallStack.data(), depth) : nullptr;
    std::string text;
    // The first two are the handler and the kernel's way into it.
    for (int i = 2; lines && i < depth; ++i)
        text.append(lines[i]).append("\n");
    std::free(static_cast<void*>(lines));
    return text;
}

} // namespace

StallWatch::StallWatch(Report report, QObject* parent)
    : QObject(parent), m_report(std::move(report)), m_watched(pthread_self())
{
    // The first call loads a library, which a handler must not do.
    backtrace(stallStack.data(), 1);
    struct sigaction action = {};
    action.sa_handler = takeStack;
    action.sa_flags = SA_RESTART;
    sigaction(stallSignal(), &action, nullptr);
    const auto* events = QAbstractEventDispatcher::instance();
    connect(events, &QAbstractEventDispatcher::awake, this, [this] { m_busySince = steadyNs(); });
    connect(events, &QAbstractEventDispatcher::aboutToBlock, this, [this] { m_busySince = 0; });
    m_thread = std::thread([this] { watch(); });
}

StallWatch::~StallWatch()
{
    m_leave = true;
    m_thread.join();
}

void StallWatch::watch()
{
    std::int64_t told = 0;
    while (!m_leave) {
        std::this_thread::sleep_for(stallLookEvery);
        const std::int64_t since = m_busySince;
        if (since == 0 || since == told || steadyNs() - since < stallNs)
            continue;
        told = since; // once per stall
        stallDepth = -1;
        if (pthread_kill(m_watched, stallSignal()) != 0)
            continue;
        for (int tries = 0; stallDepth < 0 && tries < 100 && !m_leave; ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        m_report((steadyNs() - since) / 1'000'000, stackText());
    }
}

void logStalls([[maybe_unused]] QObject* owner)
{
#ifndef NDEBUG
    new StallWatch(
        [](std::int64_t ms, const std::string& stack) {
            logWarning("window", "the window stood still", {{"ms", ms}, {"stack", stack}});
        },
        owner);
#endif
}

} // namespace gb::ui
