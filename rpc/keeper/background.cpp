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
    if (m_thread.joinable())
        m_thread.join();
}

void Background::run(std::function<void()> work, std::function<void()> done)
{
    const std::lock_guard lock(m_mutex);
    m_jobs.push_back({std::move(work), std::move(done)});
    if (!m_thread.joinable())
        m_thread = std::thread([this] { serve(); });
    m_wake.notify_one();
}

void Background::serve()
{
    for (;;) {
        Job job;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock, [this] { return m_stopping || !m_jobs.empty(); });
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
