// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include <QString>

namespace gb::ui {

// Numbers as people read them, with units; the same everywhere.
QString bytesText(double bytes); // 210 MB, 1.4 GB
QString rateText(double bytesPerSecond); // 210 MB/s
QString durationText(std::int64_t nanoseconds); // 840 µs, 12.4 ms, 3.1 s, 2 min 05 s
QString clockText(double seconds); // 0:41, 1:02:03
QString countText(std::int64_t count); // 12 345
QString moneyText(double dollars); // $0.00
QString agoText(std::int64_t thenMs, std::int64_t nowMs); // just now, 12 s ago, 5 min ago, 3 d ago
QString sinceText(std::int64_t thenMs, std::int64_t nowMs); // 12 s, 5 min, 2 h, 3 d
QString exactTimeText(std::int64_t ms); // 2026-01-31 12:34:56 local

} // namespace gb::ui
