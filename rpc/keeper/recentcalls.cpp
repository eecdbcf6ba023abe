// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "recentcalls.h"

#include <algorithm>
#include <functional>

namespace gb::rpc {
namespace {

constexpr std::size_t mostCalls = 256;
constexpr std::size_t mostBytes = 64U << 20U;
constexpr std::size_t generation = 4096;
constexpr std::size_t slotCount = 2 * generation;

std::uint64_t hashOf(std::string_view id)
{
    return std::hash<std::string_view>()(id) | 1U; // 0 is an empty slot
}

// Where the hash is, or the empty slot where it would go.
std::size_t slotOf(const std::vector<std::uint64_t>& slots, std::uint64_t hash)
{
    std::size_t at = (hash >> 1U) % slotCount;
    while (slots[at] != 0 && slots[at] != hash)
        at = (at + 1) % slotCount;
    return at;
}

} // namespace

RecentCalls::RecentCalls()
{
    for (Slots& slots : m_ids)
        slots.resize(slotCount);
}

void RecentCalls::add(const CallOutcomePtr& outcome)
{
    noteEnded(hashOf(outcome->id));
    if (outcome->result.size() > mostBytes / 4)
        return;
    m_outcomes.push_back(outcome);
    m_bytes += outcome->result.size();
    while (m_outcomes.size() > mostCalls || m_bytes > mostBytes) {
        m_bytes -= m_outcomes.front()->result.size();
        m_outcomes.pop_front();
    }
}

void RecentCalls::noteEnded(std::uint64_t hash)
{
    if (m_ids[0][slotOf(m_ids[0], hash)] == hash)
        return;
    if (m_filled == generation) {
        std::swap(m_ids[0], m_ids[1]);
        std::fill(m_ids[0].begin(), m_ids[0].end(), 0);
        m_filled = 0;
    }
    m_ids[0][slotOf(m_ids[0], hash)] = hash;
    ++m_filled;
}

CallOutcomePtr RecentCalls::find(std::string_view id) const
{
    const auto it = std::find_if(m_outcomes.rbegin(), m_outcomes.rend(),
        [id](const CallOutcomePtr& outcome) { return outcome->id == id; });
    return it == m_outcomes.rend() ? nullptr : *it;
}

bool RecentCalls::hasEnded(std::string_view id) const
{
    const std::uint64_t hash = hashOf(id);
    return std::any_of(m_ids.begin(), m_ids.end(),
        [hash](const Slots& slots) { return slots[slotOf(slots, hash)] == hash; });
}

} // namespace gb::rpc
