// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxlimits.h"

#include <algorithm>

#include <backend/base/clock.h>
#include <backend/base/json.h>

namespace gb::rpc {
namespace {

constexpr std::int64_t msPerSecond = 1000;
constexpr std::int64_t nsPerMs = 1'000'000;
constexpr std::int64_t longestWarning = 60;
constexpr std::int64_t lookAtMemoryEvery = 200;
constexpr std::int64_t lookAtUseEvery = 1000;
constexpr std::int64_t longestExtension = 366LL * 24 * 3600;

} // namespace

BoxLimits::BoxLimits(Loop& loop, const BoxConfig& config, Memory memory, InitClient& init,
    Background& threads, Handlers handlers)
    : m_loop(loop), m_config(config), m_memory(memory), m_init(init), m_threads(threads),
      m_handlers(std::move(handlers)), m_lastUse(monotonicNs())
{
    if (config.timeout > 0) {
        m_endsAt = wallMs() + config.timeout * msPerSecond;
        armTimeout();
    }
    if (config.idleTimeout > 0)
        armIdle(config.idleTimeout * msPerSecond);
    if (config.memory > 0 && memory == Memory::Watched)
        watchMemory();
}

void BoxLimits::used()
{
    m_lastUse = monotonicNs();
}

const char* BoxLimits::memoryState() const
{
    return m_config.memory <= 0 ? "none" : m_memory == Memory::Watched ? "watched" : "enforced";
}

Result<std::int64_t> BoxLimits::extend(std::int64_t seconds)
{
    if (m_endsAt == 0)
        return fail("sandbox.no_timeout", "this sandbox has no timeout that could be extended");
    if (seconds <= 0 || seconds > longestExtension)
        return fail("params.range", "\"seconds\" must be a positive number of at most a year");
    m_endsAt = std::max(m_endsAt, wallMs()) + seconds * msPerSecond;
    m_warned = false;
    armTimeout();
    return m_endsAt;
}

void BoxLimits::armTimeout()
{
    constexpr std::int64_t tenth = 10;
    const std::int64_t left = m_endsAt - wallMs();
    const std::int64_t warning =
        std::min(longestWarning * msPerSecond, m_config.timeout * msPerSecond / tenth);
    m_loop.cancelTimer(m_timeoutTimer);
    if (left <= 0)
        return m_handlers.end("timeout");
    if (!m_warned && left <= warning) {
        m_warned = true;
        m_handlers.warn("timeout", (left + msPerSecond - 1) / msPerSecond);
    }
    m_timeoutTimer = m_loop.after(m_warned ? left : left - warning, [this] { armTimeout(); });
}

void BoxLimits::armIdle(std::int64_t milliseconds)
{
    m_loop.after(milliseconds, [this] {
        if (m_busy > 0 || m_handlers.inUse())
            used();
        const std::int64_t idle = (monotonicNs() - m_lastUse) / nsPerMs;
        const std::int64_t left = m_config.idleTimeout * msPerSecond - idle;
        if (left <= 0)
            return m_handlers.end("idle");
        // While something runs nobody says when it ends, so that is looked at often.
        armIdle(std::min(left, lookAtUseEvery));
    });
}

void BoxLimits::watchMemory()
{
    inBackground(
        m_threads, [init = &m_init] { return init->meters(); },
        [this](const Result<Json>& meters) {
            if (!meters)
                return; // it has ended
            if (integerOr(*meters, "memory") > m_config.memory)
                return m_handlers.end("memory");
            m_loop.after(lookAtMemoryEvery, [this] { watchMemory(); });
        });
}

} // namespace gb::rpc
