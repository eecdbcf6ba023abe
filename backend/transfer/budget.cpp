// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "budget.h"

#include <algorithm>

#include <backend/base/clock.h>

namespace gb::transfer {

bool ConnectionBudget::take()
{
    if (m_used >= m_limit)
        return false;
    ++m_used;
    return true;
}

void ConnectionBudget::wait(std::weak_ptr<Taker> taker)
{
    const auto same = [&](const std::weak_ptr<Taker>& other) {
        return !other.owner_before(taker) && !taker.owner_before(other);
    };
    if (std::ranges::none_of(m_waiting, same))
        m_waiting.push_back(std::move(taker));
}

void ConnectionBudget::giveBack()
{
    --m_used;
    // One connection came free, so one is told; who still wants more waits again at the end of the queue.
    while (m_used < m_limit && !m_waiting.empty()) {
        auto best = m_waiting.end();
        int bestPriority = 0;
        for (auto it = m_waiting.begin(); it != m_waiting.end();) {
            const auto taker = it->lock();
            if (!taker) {
                it = m_waiting.erase(it);
                continue;
            }
            if (best == m_waiting.end() || taker->priority() > bestPriority) {
                best = it;
                bestPriority = taker->priority();
            }
            ++it;
        }
        if (best == m_waiting.end())
            return;
        const auto taker = best->lock();
        m_waiting.erase(best);
        const int before = m_used;
        taker->connectionFree();
        if (m_used > before)
            return;
    }
}

void ConnectionBudget::pushedBack()
{
    const std::int64_t now = monotonicNs();
    if (now - m_changedAtNs < 500'000'000) // one burst of refusals counts once
        return;
    m_changedAtNs = now;
    m_limit = std::max(1, m_limit / 2);
}

void ConnectionBudget::succeeded()
{
    const std::int64_t now = monotonicNs();
    if (m_limit == m_maximum || now - m_changedAtNs < 2'000'000'000)
        return;
    m_changedAtNs = now;
    ++m_limit;
}

} // namespace gb::transfer
