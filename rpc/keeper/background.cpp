// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "background.h"

namespace gb::rpc {

Background::~Background()
{
    *m_alive = false;
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_wake.notify_all();
    for (std::thread& thread : m_threads)
        thread.join();
}

void Background::run(std::function<void()> work, std::function<void()> done)
{
    const std::lock_guard lock(m_mutex);
    m_jobs.push_back({std::move(work), std::move(done)});
    if (m_idle < m_jobs.size() && m_threads.size() < m_most)
        m_threads.emplace_back([this] { serve(); });
    m_wake.notify_one();
}

void Background::serve()
{
    for (;;) {
        Job job;
        {
            std::unique_lock lock(m_mutex);
            ++m_idle;
            m_wake.wait(lock, [this] { return m_stopping || !m_jobs.empty(); });
            --m_idle;
            if (m_stopping)
                return;
            job = std::move(m_jobs.front());
            m_jobs.pop_front();
        }
        job.work();
        m_loop.post([alive = m_alive, done = std::move(job.done)] {
            if (*alive)
                done();
        });
    }
}

} // namespace gb::rpc
