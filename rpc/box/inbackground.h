// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <type_traits>

#include <rpc/keeper/background.h>

namespace gb::rpc {

// Runs what waits for the sandbox away from the loop and hands its Result on in the loop.
template <typename Work, typename Done>
void inBackground(Background& threads, Work work, Done done)
{
    using Outcome = std::invoke_result_t<Work>;
    auto outcome = std::make_shared<std::optional<Outcome>>();
    threads.run([outcome, work = std::move(work)]() mutable { outcome->emplace(work()); },
        [outcome, done = std::move(done)]() mutable { done(std::move(**outcome)); });
}

} // namespace gb::rpc
