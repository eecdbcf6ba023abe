// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>

#include "engine.h"

namespace gb::transfer {

struct RetryPolicy
{
    int attempts = 6; // in a row without progress
    int baseMs = 500;
    int capMs = 30'000;
};

// Worth another try: the network, 408, 425, 429 and 5xx. Not: certificates, other 4xx, our own disk.
bool isTransient(const Error& error);
bool isTransientStatus(int status);
// Doubles from base to cap, a quarter of it random so that many clients do not come back together.
int retryDelayMs(const RetryPolicy& policy, int attempt);
// What Retry-After (seconds or a date) or the rate-limit header asks for; 0 when nothing does, at most an
// hour.
int retryAfterMs(const Response& response);

// Somebody else may set it while a blocking function waits.
using CancelFlag = std::shared_ptr<std::atomic<bool>>;

// Waits for the answer, on any thread but the engine's; retries what is transient. A status that is no
// success and no redirect is a value.
Result<Response> fetch(
    Engine& engine, const Request& request, const RetryPolicy& policy, const CancelFlag& cancel);

} // namespace gb::transfer
