// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include "job.h"

class QThreadPool;

namespace gb {

// Runs a blocking function on a thread of the global pool, or of another one: what may hang for long must not
// keep the global pool's few threads.
class ThreadJob final : public Job
{
public:
    // What the function may call from its thread; it outlives the Job if need be.
    class Control
    {
    public:
        virtual ~Control() = default;
        virtual bool isCancelled() const = 0;
        virtual void setProgress(Progress progress) = 0;
        virtual void setMessage(std::string message) = 0;
    };
    using Work = std::function<Result<Json>(Control&)>;

    ThreadJob(std::string kind, std::string title, Work work, QObject* parent = nullptr);
    ThreadJob(std::string kind, std::string title, Work work, QThreadPool* pool);
    ~ThreadJob() override;

protected:
    void run() override;
    void abort() override;

private:
    struct Shared;
    Work m_work;
    QThreadPool* m_pool = nullptr;
    std::shared_ptr<Shared> m_shared;
};

} // namespace gb
