// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "loop.h"

#include <array>
#include <cerrno>

#include <sys/eventfd.h>

#include <backend/base/clock.h>

namespace gb::rpc {

Result<std::unique_ptr<Loop>> Loop::create()
{
    std::unique_ptr<Loop> loop(new Loop);
    loop->m_epoll.reset(::epoll_create1(EPOLL_CLOEXEC));
    loop->m_wake.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!loop->m_epoll.valid() || !loop->m_wake.valid())
        return failErrno("cannot make", "an event loop", errno);
    Loop* self = loop.get();
    loop->watch(loop->m_wake.get(), EPOLLIN, [self](std::uint32_t) {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto ignored = ::read(self->m_wake.get(), &count, sizeof count);
    });
    return loop;
}

std::uint64_t Loop::watch(int fd, std::uint32_t events, Watcher watcher)
{
    const std::uint64_t id = m_nextId++;
    m_watches.emplace(id, std::make_shared<Watch>(Watch{fd, std::move(watcher)}));
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, fd, &event);
    return id;
}

void Loop::change(std::uint64_t watch, std::uint32_t events)
{
    const auto it = m_watches.find(watch);
    if (it == m_watches.end())
        return;
    epoll_event event{};
    event.events = events;
    event.data.u64 = watch;
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_MOD, it->second->fd, &event);
}

void Loop::unwatch(std::uint64_t watch)
{
    const auto it = m_watches.find(watch);
    if (it == m_watches.end())
        return;
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_DEL, it->second->fd, nullptr);
    m_watches.erase(it);
}

std::uint64_t Loop::after(std::int64_t milliseconds, Task task)
{
    const std::uint64_t id = m_nextId++;
    const std::int64_t deadline = monotonicNs() + milliseconds * 1'000'000;
    m_timers.emplace(std::pair(deadline, id), std::move(task));
    m_timerDeadlines.emplace(id, deadline);
    return id;
}

void Loop::cancelTimer(std::uint64_t timer)
{
    const auto it = m_timerDeadlines.find(timer);
    if (it == m_timerDeadlines.end())
        return;
    m_timers.erase({it->second, timer});
    m_timerDeadlines.erase(it);
}

void Loop::post(Task task)
{
    {
        const std::lock_guard lock(m_mutex);
        m_posted.push_back(std::move(task));
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto ignored = ::write(m_wake.get(), &one, sizeof one);
}

void Loop::run()
{
    m_running = true;
    std::array<epoll_event, 64> events{};
    while (m_running) {
        const int count =
            ::epoll_wait(m_epoll.get(), events.data(), static_cast<int>(events.size()), timeout());
        for (int i = 0; i < count && m_running; ++i) {
            const epoll_event& event = events[static_cast<std::size_t>(i)];
            const auto it = m_watches.find(event.data.u64);
            if (it == m_watches.end())
                continue;
            const std::shared_ptr<Watch> keepAlive = it->second;
            keepAlive->watcher(event.events);
        }
        runPosted();
        runTimers();
    }
}

void Loop::runPosted()
{
    std::vector<Task> tasks;
    {
        const std::lock_guard lock(m_mutex);
        if (m_posted.empty())
            return;
        tasks.swap(m_posted);
    }
    for (Task& task : tasks)
        task();
}

void Loop::runTimers()
{
    if (m_timers.empty())
        return;
    const std::int64_t now = monotonicNs();
    while (!m_timers.empty() && m_timers.begin()->first.first <= now) {
        const auto first = m_timers.begin();
        const Task task = std::move(first->second);
        m_timerDeadlines.erase(first->first.second);
        m_timers.erase(first);
        task();
    }
}

int Loop::timeout() const
{
    if (m_timers.empty())
        return -1;
    const std::int64_t left = m_timers.begin()->first.first - monotonicNs();
    return left <= 0 ? 0 : static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 60'000));
}

} // namespace gb::rpc
