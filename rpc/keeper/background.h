// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "loop.h"

namespace gb::rpc {

// Long passes over bytes, away from the loop. Started on first use; work is done in order, `done` runs in the
// loop and not at all once this object is gone.
class Background
{
public:
    explicit Background(Loop& loop) : m_loop(loop) { }
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
    std::thread m_thread;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<Job> m_jobs;
    bool m_stopping = false;
};

} // namespace gb::rpc
