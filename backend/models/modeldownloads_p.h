// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <thread>

#include "modeldownloads.h"

namespace gb {

// The rate over the last seconds, from (time, bytes fetched). Falls to zero when nothing comes.
struct ModelDownloads::Samples
{
    void add(std::int64_t nowNs, std::uint64_t bytes)
    {
        constexpr std::int64_t window = 3'000'000'000;
        if (!points.empty() && bytes < points.back().second)
            points.clear(); // began anew after a wrong hash
        points.emplace_back(nowNs, bytes);
        while (points.size() > 2 && points[1].first < nowNs - window)
            points.pop_front();
    }

    std::optional<double> rate() const
    {
        if (points.size() < 2)
            return std::nullopt;
        const std::int64_t span = points.back().first - points.front().first;
        if (span < 200'000'000)
            return std::nullopt;
        return static_cast<double>(points.back().second - points.front().second) * 1e9
            / static_cast<double>(span);
    }

    std::deque<std::pair<std::int64_t, std::uint64_t>> points;
};

struct ModelDownloads::Download
{
    std::string id;
    DownloadSpec spec;
    State state = State::Queued;
    std::int64_t since = 0;
    std::optional<Error> reason;
    std::int64_t addedAt = 0;
    DownloadProgress progress;
    Samples samples;
    Json outcome; // of a ready one
    bool needsToken = false; // it had one before a restart
    int retries = 0;
    std::int64_t retryAtNs = 0; // of a stalled one without a thread
    bool wantsPause = false;
};

struct ModelDownloads::Active
{
    transfer::CancelFlag cancel = std::make_shared<std::atomic<bool>>(false);
    std::thread thread;
    std::int64_t startedNs = 0;
};

} // namespace gb
