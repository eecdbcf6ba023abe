// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>

#include "boxconfig.h"
#include "inbackground.h"

namespace gb::rpc {

// Watches what a sandbox has written to disk: where the spec limits it, as a whole; and when the disk is
// nearly full, or has room for few more files, whether it is this sandbox that fills it. Measured from out
// here, in the id map: nothing inside can hide from it. Between two looks more can be written ("watched", not
// "enforced").
class BoxDisk
{
public:
    BoxDisk(Loop& loop, const BoxConfig& config, Background& threads,
        std::function<void(const char* reason)> onFull);
    ~BoxDisk();
    BoxDisk(const BoxDisk&) = delete;
    BoxDisk& operator=(const BoxDisk&) = delete;

    const char* state() const { return m_config.disk > 0 ? "watched" : "none"; }
    // A look that is under way is given up; nothing of it runs in a moment.
    void leave() { *m_left = true; }

private:
    void look();
    // What a file system has of bytes, or of files, and how this sandbox stands in it.
    struct Room
    {
        std::int64_t total = 0; // 0: it does not say
        std::int64_t reserve = 0;
        std::int64_t free = 0; // at the last look
        std::int64_t dropped = 0; // since the one before
        std::int64_t usedWhenLow = -1;

        void seen(std::int64_t nowFree);
        bool isLow() const { return total > 0 && free < reserve; }
        bool isFilledBy(std::int64_t used, std::int64_t muchGrowth);
    };
    struct Used
    {
        std::int64_t bytes = 0;
        std::int64_t files = 0;
    };

    static Used usedFrom(const std::string& said);
    void measured(const Used& used, std::int64_t tookMs);
    void again(std::int64_t milliseconds);

    Loop& m_loop;
    const BoxConfig& m_config;
    Background& m_threads;
    std::function<void(const char* reason)> m_onFull;
    std::shared_ptr<std::atomic<bool>> m_left = std::make_shared<std::atomic<bool>>(false);
    Room m_bytes;
    Room m_files;
    std::uint64_t m_timer = 0;
};

} // namespace gb::rpc
