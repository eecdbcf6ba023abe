// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>

#include <backend/base/clock.h>

#include "localsandbox.h"

namespace gb {
namespace {

constexpr std::int64_t nsPerMs = 1000000;
constexpr std::int64_t msPerSecond = 1000;
constexpr std::chrono::milliseconds lookEvery(200);

} // namespace

LimitWatch::LimitWatch(InitClient& init, std::int64_t memoryBytes, std::int64_t timeoutSeconds,
    std::function<void(const std::string& reason)> onBreach)
    : m_init(init), m_onBreach(std::move(onBreach))
{
    const std::int64_t deadline =
        timeoutSeconds > 0 ? monotonicNs() / nsPerMs + timeoutSeconds * msPerSecond : 0;
    m_thread = std::thread([this, memoryBytes, deadline] { watch(memoryBytes, deadline); });
}

LimitWatch::~LimitWatch()
{
    {
        const std::lock_guard lock(m_mutex);
        m_leaving = true;
        m_leave.notify_all();
    }
    m_thread.join();
}

void LimitWatch::watch(std::int64_t memoryBytes, std::int64_t deadlineMs)
{
    for (;;) {
        {
            std::unique_lock lock(m_mutex);
            if (m_leave.wait_for(lock, lookEvery, [this] { return m_leaving; }))
                return;
        }
        if (deadlineMs > 0 && monotonicNs() / nsPerMs >= deadlineMs)
            return m_onBreach("timeout");
        if (memoryBytes <= 0)
            continue;
        const auto meters = m_init.meters();
        if (!meters)
            return; // it has ended
        if (integerOr(*meters, "memory") > memoryBytes)
            return m_onBreach("memory");
    }
}

} // namespace gb
