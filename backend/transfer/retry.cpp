// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "retry.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>

#include <curl/curl.h>

#include <backend/base/clock.h>
#include <backend/base/json.h>

namespace gb::transfer {
namespace {

int fromDate(const std::string& text)
{
    const std::time_t when = curl_getdate(text.c_str(), nullptr);
    if (when < 0)
        return 0;
    return static_cast<int>(std::clamp<std::int64_t>(std::int64_t{when} * 1000 - wallMs(), 0, 3'600'000));
}

int fromSeconds(std::string_view text)
{
    std::int64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9')
            return -1;
        value = std::min<std::int64_t>(value * 10 + (c - '0'), 3600);
    }
    return text.empty() ? -1 : static_cast<int>(value * 1000);
}

// One answer, waited for by another thread.
struct Waiting
{
    std::mutex mutex;
    std::condition_variable wake;
    std::optional<Result<Response>> outcome;
};

bool isCancelled(const CancelFlag& cancel)
{
    return cancel && *cancel;
}

Result<Response> fetchOnce(Engine& engine, const Request& request, const CancelFlag& cancel)
{
    const auto waiting = std::make_shared<Waiting>();
    Transfer transfer;
    transfer.request = request;
    transfer.done = [waiting](Result<Response> outcome) {
        const std::lock_guard lock(waiting->mutex);
        waiting->outcome = std::move(outcome);
        waiting->wake.notify_all();
    };
    const Engine::Id id = engine.start(std::move(transfer));
    std::unique_lock lock(waiting->mutex);
    bool asked = false;
    while (!waiting->outcome) {
        waiting->wake.wait_for(lock, std::chrono::milliseconds(50));
        if (!waiting->outcome && !asked && isCancelled(cancel)) {
            asked = true;
            engine.cancel(id);
        }
    }
    return std::move(*waiting->outcome);
}

bool waitUnlessCancelled(int milliseconds, const CancelFlag& cancel)
{
    const std::int64_t until = monotonicNs() + std::int64_t{milliseconds} * 1'000'000;
    while (monotonicNs() < until) {
        if (isCancelled(cancel))
            return false;
        struct timespec nap
        {
            0, 20'000'000
        };
        ::nanosleep(&nap, nullptr);
    }
    return !isCancelled(cancel);
}

} // namespace

bool isTransientStatus(int status)
{
    return status == 408 || status == 425 || status == 429 || status >= 500;
}

bool isTransient(const Error& error)
{
    if (error.code.starts_with("http."))
        return isTransientStatus(static_cast<int>(integerOr(error.data, "status")));
    return error.code == "net.unreachable" || error.code == "net.timeout" || error.code == "net.cut"
        || error.code == "net.stalled" || error.code == "net.encoded" || error.code == "net.wrong_range";
}

int retryDelayMs(const RetryPolicy& policy, int attempt)
{
    static thread_local std::minstd_rand random(static_cast<unsigned>(monotonicNs()));
    const std::int64_t full =
        std::min<std::int64_t>(std::int64_t{policy.baseMs} << std::clamp(attempt, 0, 16), policy.capMs);
    const std::int64_t quarter = std::max<std::int64_t>(full / 4, 1);
    return static_cast<int>(full - quarter + static_cast<std::int64_t>(random()) % quarter);
}

int retryAfterMs(const Response& response)
{
    const std::string after = response.header("Retry-After");
    if (const int milliseconds = fromSeconds(after); milliseconds >= 0)
        return milliseconds;
    if (!after.empty())
        return fromDate(after);
    // ratelimit: "api";r=0;t=35 : nothing remains, and what is used up comes back in t seconds.
    const std::string limit = response.header("ratelimit");
    if (response.status != 429 || limit.find(";r=0") == std::string::npos)
        return 0;
    const auto reset = limit.find(";t=");
    if (reset == std::string::npos)
        return 0;
    const auto begin = reset + 3;
    const auto end = limit.find_first_not_of("0123456789", begin);
    return std::max(0, fromSeconds(std::string_view(limit).substr(begin, end - begin)));
}

Result<Response> fetch(
    Engine& engine, const Request& request, const RetryPolicy& policy, const CancelFlag& cancel)
{
    for (int attempt = 0;; ++attempt) {
        if (isCancelled(cancel))
            return fail("cancelled", "cancelled");
        Result<Response> outcome = fetchOnce(engine, request, cancel);
        const bool again = outcome ? isTransientStatus(outcome->status) : isTransient(outcome.error());
        if (!again || attempt + 1 >= policy.attempts)
            return outcome;
        int delay = retryDelayMs(policy, attempt);
        if (outcome)
            delay = std::max(delay, retryAfterMs(*outcome));
        if (!waitUnlessCancelled(delay, cancel))
            return fail("cancelled", "cancelled");
    }
}

} // namespace gb::transfer
