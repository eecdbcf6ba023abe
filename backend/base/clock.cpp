// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "clock.h"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace gb {

std::int64_t wallMs()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::int64_t monotonicNs()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

std::string isoUtc(std::int64_t wallMilliseconds)
{
    const std::time_t seconds = wallMilliseconds / 1000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[40];
    const auto length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(wallMilliseconds % 1000));
    return text;
}

} // namespace gb
