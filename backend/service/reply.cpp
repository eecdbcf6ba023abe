// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "reply.h"

#include <utility>

namespace gb::service {

struct Reply::Shared
{
    ~Shared()
    {
        if (done)
            done(fail("rpc.unanswered", "the daemon dropped this request"));
    }

    Done done;
    Notify notify;
    std::function<std::size_t()> unsent;
    Caller caller;
    Connection* connection = nullptr;
    std::string op;
    bool resumed = false;
    std::function<void()> cancel;
};

Reply::Reply(Done done, Notify notify, Caller caller, std::function<std::size_t()> unsent)
    : m_shared(std::make_shared<Shared>())
{
    m_shared->unsent = std::move(unsent);
    m_shared->done = std::move(done);
    m_shared->notify = std::move(notify);
    m_shared->caller = std::move(caller);
}

void Reply::finish(Result<Json> result)
{
    if (result)
        finish(api::Answer{std::move(*result), {}});
    else
        refuse(std::move(result).error());
}

void Reply::finish(api::Answer answer)
{
    m_shared->cancel = nullptr;
    if (const Done done = std::exchange(m_shared->done, nullptr))
        done(std::move(answer));
}

void Reply::refuse(Error error)
{
    m_shared->cancel = nullptr;
    if (const Done done = std::exchange(m_shared->done, nullptr))
        done(fail(std::move(error)));
}

void Reply::notify(std::string_view method, const Json& params, std::string_view attachment) const
{
    if (m_shared->notify)
        m_shared->notify(method, params, attachment);
}

std::size_t Reply::unsent() const
{
    return m_shared->unsent ? m_shared->unsent() : 0;
}

void Reply::onCancel(std::function<void()> action)
{
    if (m_shared->done)
        m_shared->cancel = std::move(action);
}

std::function<void()> Reply::canceller() const
{
    return [weak = std::weak_ptr<Shared>(m_shared)] {
        const auto shared = weak.lock();
        if (const auto action = shared ? std::exchange(shared->cancel, nullptr) : nullptr)
            action();
    };
}

const Caller& Reply::caller() const
{
    return m_shared->caller;
}

Connection* Reply::connection() const
{
    return m_shared->connection;
}

void Reply::setConnection(Connection* connection)
{
    m_shared->connection = connection;
}

const std::string& Reply::op() const
{
    return m_shared->op;
}

bool Reply::isResumed() const
{
    return m_shared->resumed;
}

void Reply::setOp(std::string op, bool resumed)
{
    m_shared->op = std::move(op);
    m_shared->resumed = resumed;
}

} // namespace gb::service
