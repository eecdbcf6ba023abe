// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <charconv>

#include "tensor.h"

namespace gb::rpc {
namespace {

struct Range
{
    std::int64_t start = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
    bool single = false; // an index: the dimension goes away
};

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

// start:stop:step, each may be missing.
std::optional<Range> readRange(std::string_view text, std::int64_t size)
{
    std::array<std::optional<std::int64_t>, 3> parts;
    std::size_t count = 0;
    for (std::string_view left = text;; ++count) {
        const std::size_t colon = left.find(':');
        const std::string_view part = left.substr(0, colon);
        if (count == 3)
            return std::nullopt;
        if (!part.empty()) {
            parts[count] = wholeNumber(part);
            if (!parts[count])
                return std::nullopt;
        }
        if (colon == std::string_view::npos)
            break;
        left = left.substr(colon + 1);
    }
    const auto fromEnd = [size](std::int64_t at) { return at < 0 ? at + size : at; };
    Range range;
    if (count == 0) {
        if (!parts[0] || fromEnd(*parts[0]) < 0 || fromEnd(*parts[0]) >= size)
            return std::nullopt;
        return Range{fromEnd(*parts[0]), 1, 1, true};
    }
    range.step = parts[2].value_or(1);
    if (range.step < 1)
        return std::nullopt;
    range.start = std::clamp<std::int64_t>(fromEnd(parts[0].value_or(0)), 0, size);
    const std::int64_t stop = std::clamp<std::int64_t>(fromEnd(parts[1].value_or(size)), 0, size);
    range.count = stop > range.start ? (stop - range.start - 1) / range.step + 1 : 0;
    return range;
}

Result<std::vector<Range>> readRanges(const Tensor& tensor, std::string_view slice)
{
    std::vector<Range> ranges;
    while (!slice.empty()) {
        const std::size_t comma = slice.find(',');
        const std::size_t dimension = ranges.size();
        if (dimension >= tensor.shape().size())
            return fail("tensor.slice", "the slice has more dimensions than the tensor");
        const auto range = readRange(slice.substr(0, comma), tensor.shape()[dimension]);
        if (!range)
            return fail("tensor.slice",
                "dimension " + std::to_string(dimension)
                    + " of the slice is not start:stop:step or an index");
        ranges.push_back(*range);
        slice = comma == std::string_view::npos ? std::string_view() : slice.substr(comma + 1);
    }
    for (std::size_t i = ranges.size(); i < tensor.shape().size(); ++i)
        ranges.push_back({0, 1, tensor.shape()[i], false});
    return ranges;
}

struct SliceCopy
{
    const char* data;
    std::size_t element;
    const std::vector<Range>& ranges;
    std::vector<std::size_t> strides; // in bytes
    std::string out;

    void copy(std::size_t dimension, std::size_t offset)
    {
        if (dimension == ranges.size()) {
            out.append(data + offset, element);
            return;
        }
        const Range& range = ranges[dimension];
        offset += static_cast<std::size_t>(range.start) * strides[dimension];
        if (dimension + 1 == ranges.size() && range.step == 1) {
            out.append(data + offset, static_cast<std::size_t>(range.count) * element);
            return;
        }
        for (std::int64_t i = 0; i < range.count; ++i)
            copy(dimension + 1, offset + static_cast<std::size_t>(i * range.step) * strides[dimension]);
    }
};

// Reduces output rows [from, to). Bin i of n over [a, b) is [a + i(b-a)/n, a + (i+1)(b-a)/n).
template <typename Load>
void reduceRows(
    Load load, const Tile& shape, std::int64_t width, std::int64_t from, std::int64_t to, Tile& out)
{
    const std::int64_t height = shape.row1 - shape.row0;
    const std::int64_t span = shape.col1 - shape.col0;
    std::vector<double> sums(static_cast<std::size_t>(shape.cols));
    std::vector<std::int64_t> counts(static_cast<std::size_t>(shape.cols));
    // Divided once, not again in each row.
    std::vector<std::int64_t> edges(static_cast<std::size_t>(shape.cols) + 1);
    for (std::int64_t c = 0; c <= shape.cols; ++c)
        edges[static_cast<std::size_t>(c)] = shape.col0 + c * span / shape.cols;
    for (std::int64_t r = from; r < to; ++r) {
        std::fill(sums.begin(), sums.end(), 0);
        std::fill(counts.begin(), counts.end(), 0);
        float* low = out.min.data() + r * shape.cols;
        float* high = out.max.data() + r * shape.cols;
        std::fill(low, low + shape.cols, INFINITY);
        std::fill(high, high + shape.cols, -INFINITY);
        const std::int64_t lastRow = shape.row0 + (r + 1) * height / shape.rows;
        for (std::int64_t row = shape.row0 + r * height / shape.rows; row < lastRow; ++row) {
            for (std::int64_t c = 0; c < shape.cols; ++c) {
                const std::int64_t lastCol = edges[static_cast<std::size_t>(c) + 1];
                double sum = 0;
                float least = low[c];
                float most = high[c];
                std::int64_t good = 0;
                for (std::int64_t col = edges[static_cast<std::size_t>(c)]; col < lastCol; ++col) {
                    const auto x = static_cast<float>(load(static_cast<std::size_t>(row * width + col)));
                    const bool number = x == x;
                    sum += number ? static_cast<double>(x) : 0.0;
                    good += number ? 1 : 0;
                    least = x < least ? x : least;
                    most = x > most ? x : most;
                }
                sums[static_cast<std::size_t>(c)] += sum;
                counts[static_cast<std::size_t>(c)] += good;
                low[c] = least;
                high[c] = most;
            }
        }
        for (std::int64_t c = 0; c < shape.cols; ++c) {
            const auto count = static_cast<double>(counts[static_cast<std::size_t>(c)]);
            float& mean = out.mean[static_cast<std::size_t>(r * shape.cols + c)];
            mean = count > 0 ? static_cast<float>(sums[static_cast<std::size_t>(c)] / count) : NAN;
            if (count == 0)
                low[c] = high[c] = NAN;
        }
    }
}

} // namespace

Result<TensorPtr> sliced(const Tensor& tensor, std::string_view slice)
{
    const auto ranges = readRanges(tensor, slice);
    if (!ranges)
        return fail(ranges.error());
    SliceCopy copy{tensor.data().view().data(), sizeOf(tensor.dtype()), *ranges,
        std::vector<std::size_t>(ranges->size()), {}};
    std::size_t stride = copy.element;
    std::size_t bytes = copy.element;
    for (std::size_t i = ranges->size(); i-- > 0;) {
        copy.strides[i] = stride;
        stride *= static_cast<std::size_t>(tensor.shape()[i]);
        bytes *= static_cast<std::size_t>((*ranges)[i].count);
    }
    copy.out.reserve(bytes);
    if (bytes > 0)
        copy.copy(0, 0);
    std::vector<std::int64_t> shape;
    for (const Range& range : *ranges) {
        if (!range.single)
            shape.push_back(range.count);
    }
    return Tensor::make(tensor.dtype(), std::move(shape), std::move(copy.out));
}

Result<Tile> tile(const Tensor& tensor, const TileRequest& request)
{
    constexpr std::int64_t mostSide = 4096;
    const auto& shape = tensor.shape();
    const std::int64_t width = shape.empty() ? 1 : shape.back();
    const std::int64_t height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    const auto matrix = static_cast<std::size_t>(width * height);
    if (isComplex(tensor.dtype()) || matrix == 0)
        return fail("tensor.tile", "complex and empty tensors have no tiles");
    const std::int64_t leads = static_cast<std::int64_t>(tensor.elements() / matrix);
    Tile out;
    out.row0 = request.row0;
    out.row1 = request.row1 < 0 ? height : request.row1;
    out.col0 = request.col0;
    out.col1 = request.col1 < 0 ? width : request.col1;
    if (request.lead < 0 || request.lead >= leads || out.row0 < 0 || out.row1 > height || out.row0 >= out.row1
        || out.col0 < 0 || out.col1 > width || out.col0 >= out.col1 || request.rows < 1 || request.cols < 1)
        return fail("tensor.tile", "the tile's window lies outside the tensor");
    out.rows = std::min({request.rows, out.row1 - out.row0, mostSide});
    out.cols = std::min({request.cols, out.col1 - out.col0, mostSide});
    const auto cells = static_cast<std::size_t>(out.rows * out.cols);
    out.mean.resize(cells);
    out.min.resize(cells);
    out.max.resize(cells);
    const char* data = tensor.data().view().data()
        + static_cast<std::size_t>(request.lead) * matrix * sizeOf(tensor.dtype());
    withLoader(tensor.dtype(), data, [&](auto load) {
        inPieces(static_cast<std::size_t>(out.rows),
            static_cast<std::size_t>((out.row1 - out.row0) * (out.col1 - out.col0)),
            [&](std::size_t from, std::size_t to, int) {
                reduceRows(
                    load, out, width, static_cast<std::int64_t>(from), static_cast<std::int64_t>(to), out);
            });
    });
    return out;
}

} // namespace gb::rpc
