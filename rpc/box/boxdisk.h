// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>

#include "boxconfig.h"
#include "inbackground.h"

namespace gb::rpc {

// Watches what a sandbox has written to disk: where the spec limits it, as a whole; and when the disk is
// nearly full, whether it is this sandbox that fills it. Measured from out here, in the id map: nothing
// inside can hide from it. Between two looks more can be written ("watched", not "enforced").
class BoxDisk
{
public:
    BoxDisk(Loop& loop, const BoxConfig& config, Background& threads, std::function<void()> onFull);
    ~BoxDisk();
    BoxDisk(const BoxDisk&) = delete;
    BoxDisk& operator=(const BoxDisk&) = delete;

    const char* state() const { return m_config.disk > 0 ? "watched" : "none"; }
    // A look that is under way is given up; nothing of it runs in a moment.
    void leave() { *m_left = true; }

private:
    void look();
    void measured(std::int64_t used, std::int64_t tookMs);
    void again(std::int64_t milliseconds);

    Loop& m_loop;
    const BoxConfig& m_config;
    Background& m_threads;
    std::function<void()> m_onFull;
    std::shared_ptr<std::atomic<bool>> m_left = std::make_shared<std::atomic<bool>>(false);
    std::int64_t m_reserve = 0;
    std::int64_t m_free = 0; // at the last look
    std::int64_t m_dropped = 0; // since the one before
    std::int64_t m_usedWhenLow = -1;
    std::uint64_t m_timer = 0;
};

} // namespace gb::rpc
