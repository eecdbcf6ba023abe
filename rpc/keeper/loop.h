// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <sys/epoll.h>

#include <backend/base/fd.h>
#include <backend/base/result.h>

namespace gb::rpc {

// The one thread of a host: epoll, timers and work posted from other threads. Everything of the keeper and of
// the HTTP front runs in it, so none of that needs a lock; only post() may be called from elsewhere.
class Loop
{
public:
    using Watcher = std::function<void(std::uint32_t events)>;
    using Task = std::function<void()>;

    static Result<std::unique_ptr<Loop>> create();

    // The watcher is not called again once unwatch() has returned, not even for events already fetched.
    std::uint64_t watch(int fd, std::uint32_t events, Watcher watcher);
    void change(std::uint64_t watch, std::uint32_t events);
    void unwatch(std::uint64_t watch);

    std::uint64_t after(std::int64_t milliseconds, Task task);
    void cancelTimer(std::uint64_t timer);

    void post(Task task);

    void run();
    void stop() { m_running = false; }

private:
    struct Watch
    {
        int fd = -1;
        Watcher watcher;
    };

    Loop() = default;
    void runPosted();
    void runTimers();
    int timeout() const;

    UniqueFd m_epoll;
    UniqueFd m_wake;
    std::uint64_t m_nextId = 1;
    std::unordered_map<std::uint64_t, std::shared_ptr<Watch>> m_watches;
    std::map<std::pair<std::int64_t, std::uint64_t>, Task> m_timers;
    std::unordered_map<std::uint64_t, std::int64_t> m_timerDeadlines;
    std::mutex m_mutex;
    std::vector<Task> m_posted;
    bool m_running = false;
};

} // namespace gb::rpc
