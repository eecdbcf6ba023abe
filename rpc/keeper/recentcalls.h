// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "call.h"

namespace gb::rpc {

// The last calls: how some hundred of them ended, and the ids of some thousand, none of which may come again.
// Every call passes here, few are ever asked for; so adding is what is cheap.
class RecentCalls
{
public:
    RecentCalls();

    void add(const CallOutcomePtr& outcome);
    CallOutcomePtr find(std::string_view id) const;
    bool hasEnded(std::string_view id) const;

private:
    void noteEnded(std::uint64_t hash);

    // Hashes, open addressing, at most half full: filled, then put aside as a whole in the place of the
    // generation before it. A node for each id, and its removal, touched cold memory four times a call.
    using Slots = std::vector<std::uint64_t>;

    std::deque<CallOutcomePtr> m_outcomes;
    std::size_t m_bytes = 0;
    std::array<Slots, 2> m_ids; // the present generation, the one before
    std::size_t m_filled = 0;
};

} // namespace gb::rpc
