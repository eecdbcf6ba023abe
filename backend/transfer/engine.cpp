// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "engine.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include <backend/base/clock.h>

#include "exchange.h"

namespace gb::transfer {

NetworkOptions NetworkOptions::fromEnvironment(const std::function<std::string(const char*)>& variable)
{
    const auto first = [&](std::initializer_list<const char*> names) {
        for (const char* name : names) {
            if (std::string value = variable(name); !value.empty())
                return value;
        }
        return std::string();
    };
    NetworkOptions options;
    // The upper-case form of http_proxy is left out on purpose: a web server's environment can be made to
    // contain it by a request's Proxy header.
    options.httpProxy = first({"http_proxy", "all_proxy", "ALL_PROXY"});
    options.httpsProxy = first({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
    options.noProxy = first({"no_proxy", "NO_PROXY"});
    options.caFile = first({"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"});
    return options;
}

struct Engine::Private
{
    explicit Private(NetworkOptions given) : options(std::move(given)) { }

    void loop();
    void runPosted();
    void runTimers();
    void begin(std::unique_ptr<Exchange> exchange);
    void collect();
    void tick();
    void end(Id id, std::optional<Error> error);
    int waitMs() const;
    void post(std::function<void()> task);

    NetworkOptions options;
    CURLM* multi = curl_multi_init();
    std::atomic<bool> stopping = false;
    std::atomic<Id> lastId = 0;
    std::atomic<std::int64_t> received = 0;

    std::mutex mutex;
    std::deque<std::function<void()>> posted;

    // The engine's thread only.
    std::map<Id, std::unique_ptr<Exchange>> exchanges;
    std::multimap<std::int64_t, std::function<void()>> timers;
    RateLimit limit;
    std::int64_t tickedAtNs = 0;

    std::thread thread;
};

void Engine::Private::post(std::function<void()> task)
{
    {
        const std::lock_guard lock(mutex);
        posted.push_back(std::move(task));
    }
    curl_multi_wakeup(multi);
}

void Engine::Private::runPosted()
{
    std::deque<std::function<void()>> tasks;
    {
        const std::lock_guard lock(mutex);
        tasks.swap(posted);
    }
    for (auto& task : tasks)
        task();
}

void Engine::Private::runTimers()
{
    const std::int64_t now = monotonicNs();
    while (!timers.empty() && timers.begin()->first <= now) {
        const auto task = std::move(timers.begin()->second);
        timers.erase(timers.begin());
        task();
    }
}

void Engine::Private::begin(std::unique_ptr<Exchange> exchange)
{
    const Id id = exchange->id();
    Exchange* raw = exchange.get();
    exchanges.emplace(id, std::move(exchange));
    if (Status status = raw->prepare(); !status)
        return end(id, std::move(status).error());
    curl_multi_add_handle(multi, raw->handle());
}

void Engine::Private::end(Id id, std::optional<Error> error)
{
    const auto it = exchanges.find(id);
    if (it == exchanges.end())
        return;
    const std::unique_ptr<Exchange> exchange = std::move(it->second);
    exchanges.erase(it);
    curl_multi_remove_handle(multi, exchange->handle());
    received += exchange->takeCounted();
    if (error)
        exchange->finish(std::move(*error));
    else
        exchange->finish();
}

void Engine::Private::collect()
{
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
        if (message->msg != CURLMSG_DONE)
            continue;
        const CURLcode code = message->data.result;
        Exchange* exchange = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
        curl_multi_remove_handle(multi, exchange->handle());
        if (exchange->nextHop(code))
            curl_multi_add_handle(multi, exchange->handle());
        else
            end(exchange->id(), std::nullopt);
    }
}

void Engine::Private::tick()
{
    const std::int64_t now = monotonicNs();
    if (now - tickedAtNs < 20'000'000)
        return;
    tickedAtNs = now;
    std::vector<Id> stalled;
    for (const auto& [id, exchange] : exchanges) {
        received += exchange->takeCounted();
        if (exchange->isPaused() && limit.mayTake())
            exchange->unpause();
        else if (exchange->isStalled(now))
            stalled.push_back(id);
    }
    for (const Id id : stalled)
        end(id, Error{"net.stalled", "nothing came for too long"});
}

int Engine::Private::waitMs() const
{
    std::int64_t wait = exchanges.empty() ? 1000 : (limit.isLimited() ? 20 : 100);
    if (!timers.empty())
        wait = std::min(wait, (timers.begin()->first - monotonicNs()) / 1'000'000 + 1);
    return static_cast<int>(std::max<std::int64_t>(wait, 0));
}

void Engine::Private::loop()
{
    while (!stopping) {
        runPosted();
        runTimers();
        int running = 0;
        curl_multi_perform(multi, &running);
        collect();
        tick();
        const bool idle = [&] {
            const std::lock_guard lock(mutex);
            return posted.empty();
        }();
        if (idle)
            curl_multi_poll(multi, nullptr, 0, waitMs(), nullptr);
    }
    while (!exchanges.empty())
        end(exchanges.begin()->first, Error{"cancelled", "cancelled"});
}

Engine::Engine(NetworkOptions options) : d(std::make_unique<Private>(std::move(options)))
{
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    curl_multi_setopt(d->multi, CURLMOPT_MAXCONNECTS, 64L);
    d->thread = std::thread([this] { d->loop(); });
}

Engine::~Engine()
{
    stop();
    d->timers.clear();
    d->posted.clear();
    curl_multi_cleanup(d->multi);
}

void Engine::stop()
{
    d->stopping = true;
    curl_multi_wakeup(d->multi);
    if (d->thread.joinable())
        d->thread.join();
}

Engine::Id Engine::start(Transfer transfer)
{
    const Id id = ++d->lastId;
    auto shared = std::make_shared<Transfer>(std::move(transfer));
    d->post([this, id, shared] {
        d->begin(std::make_unique<Exchange>(id, std::move(*shared), d->options, d->limit));
    });
    return id;
}

void Engine::cancel(Id id)
{
    d->post([this, id] { d->end(id, Error{"cancelled", "cancelled"}); });
}

void Engine::post(std::function<void()> task)
{
    d->post(std::move(task));
}

void Engine::after(int milliseconds, std::function<void()> task)
{
    const std::int64_t at = monotonicNs() + std::int64_t{milliseconds} * 1'000'000;
    d->post([this, at, task = std::move(task)]() mutable { d->timers.emplace(at, std::move(task)); });
}

void Engine::setRate(std::int64_t bytesPerSecond)
{
    d->post([this, bytesPerSecond] { d->limit.setRate(bytesPerSecond); });
}

std::int64_t Engine::receivedBytes() const
{
    return d->received;
}

} // namespace gb::transfer
