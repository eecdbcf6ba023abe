// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gb::transfer {

// Threads for what blocks on a disk or burns a core, so that the engine's thread never does.
class Workers
{
public:
    explicit Workers(int threads = 2);
    ~Workers(); // what has begun is finished, the rest is dropped
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    void post(std::function<void()> task);

private:
    void loop();

    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::function<void()>> m_tasks;
    bool m_stopping = false;
    std::vector<std::thread> m_threads;
};

} // namespace gb::transfer
