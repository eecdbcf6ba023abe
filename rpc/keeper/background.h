// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "loop.h"

namespace gb::rpc {

// Work that takes time or waits, away from the loop. Threads are started when they are needed; with one of
// them work is done in order. `done` runs in the loop and not at all once this object is gone.
class Background
{
public:
    explicit Background(Loop& loop, std::size_t threads = 1) : m_loop(loop), m_most(threads) { }
    ~Background();
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    void run(std::function<void()> work, std::function<void()> done);

private:
    void serve();

    struct Job
    {
        std::function<void()> work;
        std::function<void()> done;
    };

    Loop& m_loop;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);
    std::size_t m_most;
    std::vector<std::thread> m_threads;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<Job> m_jobs;
    std::size_t m_idle = 0;
    bool m_stopping = false;
};

} // namespace gb::rpc
