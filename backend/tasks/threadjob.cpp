// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "threadjob.h"

#include <atomic>
#include <mutex>

#include <QThreadPool>

namespace gb {

// The function may still run when the Job is gone (its owner closed a window): it then talks to nobody.
struct ThreadJob::Shared final : ThreadJob::Control
{
    explicit Shared(ThreadJob* owner) : job(owner) { }

    bool isCancelled() const override { return cancelled; }
    void setProgress(Progress progress) override
    {
        post([progress = std::move(progress)](ThreadJob* owner) { owner->Job::setProgress(progress); });
    }
    void setMessage(std::string message) override
    {
        post([message = std::move(message)](ThreadJob* owner) { owner->Job::setMessage(message); });
    }
    void finish(Result<Json> outcome)
    {
        post([outcome = std::move(outcome)](ThreadJob* owner) { owner->Job::finish(outcome); });
    }
    template <typename Function>
    void post(Function function)
    {
        // Queued to the Job as context object: Qt drops the call when the Job is destroyed before it runs.
        const std::lock_guard lock(mutex);
        if (job)
            QMetaObject::invokeMethod(
                job, [owner = job, function] { function(owner); }, Qt::QueuedConnection);
    }

    std::mutex mutex;
    ThreadJob* job;
    std::atomic<bool> cancelled = false;
};

ThreadJob::ThreadJob(std::string kind, std::string title, Work work, QObject* parent)
    : Job(std::move(kind), std::move(title), parent), m_work(std::move(work)),
      m_shared(std::make_shared<Shared>(this))
{ }

ThreadJob::ThreadJob(std::string kind, std::string title, Work work, QThreadPool* pool)
    : ThreadJob(std::move(kind), std::move(title), std::move(work))
{
    m_pool = pool;
}

ThreadJob::~ThreadJob()
{
    m_shared->cancelled = true;
    const std::lock_guard lock(m_shared->mutex);
    m_shared->job = nullptr;
}

void ThreadJob::run()
{
    (m_pool ? m_pool : QThreadPool::globalInstance())->start([work = std::move(m_work), shared = m_shared] {
        shared->finish(work(*shared));
    });
}

void ThreadJob::abort()
{
    m_shared->cancelled = true;
}

} // namespace gb
