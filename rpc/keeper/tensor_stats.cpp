// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <thread>

#include "tensor.h"

namespace gb::rpc {
namespace {

constexpr int bins = 64;

struct RangePart
{
    std::size_t count = 0, nan = 0, infinite = 0;
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    double sum = 0;
};

struct SpreadPart
{
    double squares = 0;
    std::array<std::uint64_t, bins> histogram{};
};

// Sums are taken in double over short stretches, so that 10⁸ small numbers do not drown in their sum.
constexpr std::size_t stretch = 4096;

template <typename Load>
void measureRange(Load load, std::size_t from, std::size_t to, RangePart& part)
{
    using Value = typename Load::Value;
    for (std::size_t start = from; start < to; start += stretch) {
        const std::size_t end = std::min(to, start + stretch);
        Value low = std::numeric_limits<Value>::max();
        Value high = std::numeric_limits<Value>::lowest();
        double sum = 0;
        std::size_t odd = 0; // NaN or infinite
        for (std::size_t i = start; i < end; ++i) {
            const Value x = load(i);
            if constexpr (std::is_floating_point_v<Value>) {
                const bool good = x - x == 0;
                odd += good ? 0U : 1U;
                sum += good ? static_cast<double>(x) : 0.0;
                low = good && x < low ? x : low;
                high = good && x > high ? x : high;
                part.nan += x != x ? 1U : 0U;
            } else {
                sum += static_cast<double>(x);
                low = std::min(low, x);
                high = std::max(high, x);
            }
        }
        if (odd < end - start) {
            part.min = std::min(part.min, static_cast<double>(low));
            part.max = std::max(part.max, static_cast<double>(high));
        }
        part.count += end - start - odd;
        part.infinite += odd;
        part.sum += sum;
    }
}

template <typename Load>
void measureSpread(Load load, std::size_t from, std::size_t to, const TensorStats& stats, SpreadPart& part)
{
    const double width = stats.max - stats.min;
    const double scale = width > 0 ? bins / width : 0;
    // Two tables, so that neighbours that fall into one bin do not wait for each other.
    std::array<std::array<std::uint32_t, bins + 1>, 2> counts{};
    for (std::size_t start = from; start < to; start += stretch) {
        const std::size_t end = std::min(to, start + stretch);
        double squares = 0;
        for (std::size_t i = start; i < end; ++i) {
            const auto x = static_cast<double>(load(i));
            const bool good = x - x == 0;
            const double off = good ? x - stats.mean : 0.0;
            squares += off * off;
            const int bin = good ? static_cast<int>((x - stats.min) * scale) : bins;
            ++counts[i & 1U][static_cast<std::size_t>(good ? std::min(bin, bins - 1) : bins)];
        }
        part.squares += squares;
        for (std::size_t bin = 0; bin < bins; ++bin)
            part.histogram[bin] += counts[0][bin] + counts[1][bin];
        counts = {};
    }
}

void addRange(const std::vector<RangePart>& parts, TensorStats& stats)
{
    RangePart whole;
    for (const RangePart& part : parts) {
        whole.count += part.count;
        whole.nan += part.nan;
        whole.infinite += part.infinite;
        whole.min = std::min(whole.min, part.min);
        whole.max = std::max(whole.max, part.max);
        whole.sum += part.sum;
    }
    stats.count = whole.count;
    stats.nan = whole.nan;
    stats.infinite = whole.infinite - whole.nan;
    if (whole.count > 0) {
        stats.min = whole.min;
        stats.max = whole.max;
        stats.mean = whole.sum / static_cast<double>(whole.count);
    }
}

} // namespace

int piecesFor(std::size_t cost)
{
    constexpr std::size_t worthThreads = 10'000'000;
    if (cost < worthThreads)
        return 1;
    return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
}

void inPieces(
    std::size_t count, std::size_t cost, const std::function<void(std::size_t, std::size_t, int)>& work)
{
    const int pieces = piecesFor(cost);
    const std::size_t each =
        (count + static_cast<std::size_t>(pieces) - 1) / static_cast<std::size_t>(pieces);
    std::vector<std::thread> threads;
    for (int piece = 1; piece < pieces; ++piece) {
        const std::size_t from = std::min(count, each * static_cast<std::size_t>(piece));
        threads.emplace_back(work, from, std::min(count, from + each), piece);
    }
    work(0, std::min(count, each), 0);
    for (std::thread& thread : threads)
        thread.join();
}

std::optional<TensorStats> statistics(const Tensor& tensor, bool withHistogram)
{
    if (isComplex(tensor.dtype()) || !tensor.here())
        return std::nullopt;
    TensorStats stats;
    const std::size_t count = tensor.elements();
    const auto pieces = static_cast<std::size_t>(piecesFor(count));
    withLoader(tensor.dtype(), tensor.data().view().data(), [&](auto load) {
        std::vector<RangePart> ranges(pieces);
        inPieces(count, count, [&](std::size_t from, std::size_t to, int piece) {
            RangePart part;
            measureRange(load, from, to, part);
            ranges[static_cast<std::size_t>(piece)] = part;
        });
        addRange(ranges, stats);
        std::vector<SpreadPart> spreads(pieces);
        inPieces(count, count, [&](std::size_t from, std::size_t to, int piece) {
            SpreadPart part;
            measureSpread(load, from, to, stats, part);
            spreads[static_cast<std::size_t>(piece)] = part;
        });
        double squares = 0;
        stats.histogram.assign(withHistogram ? bins : 0, 0);
        for (const SpreadPart& part : spreads) {
            squares += part.squares;
            for (std::size_t bin = 0; bin < stats.histogram.size(); ++bin)
                stats.histogram[bin] += part.histogram[bin];
        }
        stats.std = stats.count > 0 ? std::sqrt(squares / static_cast<double>(stats.count)) : 0;
    });
    return stats;
}

Json TensorStats::toJson(bool withHistogram) const
{
    Json json{{"count", count}, {"nan", nan}, {"inf", infinite}};
    const bool any = count > 0;
    json["min"] = any ? Json(min) : Json();
    json["max"] = any ? Json(max) : Json();
    json["mean"] = any ? Json(mean) : Json();
    json["std"] = any ? Json(std) : Json();
    if (withHistogram)
        json["histogram"] = histogram;
    return json;
}

} // namespace gb::rpc
