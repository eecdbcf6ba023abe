// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <charconv>
#include <cmath>

#include "tensor.h"

namespace gb::rpc {
namespace {

std::string withLength(const Json& header)
{
    std::string json = header.dump();
    json.append((8 - json.size() % 8) % 8, ' '); // data starts aligned
    std::string out(8, '\0');
    const auto length = static_cast<std::uint64_t>(json.size());
    std::memcpy(out.data(), &length, sizeof length); // little-endian, as this machine is
    return out + json;
}

template <typename Value>
void appendNumber(std::string& out, Value value, std::size_t& unsaid)
{
    std::array<char, 40> text{};
    if constexpr (std::is_floating_point_v<Value>) {
        if (value - value != 0) {
            ++unsaid;
            out += "null";
            return;
        }
    }
    auto [end, error] = std::to_chars(text.data(), text.data() + text.size() - 2, value);
    if constexpr (std::is_floating_point_v<Value>) {
        // A float stays one for readers that tell them from whole numbers.
        if (value == std::trunc(value)
            && std::string_view(text.data(), static_cast<std::size_t>(end - text.data())).find('e')
                == std::string_view::npos) {
            *end++ = '.';
            *end++ = '0';
        }
    }
    out.append(text.data(), end);
}

template <typename Load>
struct ListWriter
{
    std::string& out;
    const std::vector<std::int64_t>& shape;
    Load load;
    std::size_t& unsaid;
    bool boolean;
    std::size_t next = 0;

    void element()
    {
        if (boolean)
            out += load(next) != 0 ? "true" : "false";
        else
            appendNumber(out, load(next), unsaid);
        ++next;
    }
    void dimension(std::size_t at)
    {
        if (at == shape.size())
            return element();
        out += '[';
        for (std::int64_t i = 0; i < shape[at]; ++i) {
            if (i > 0)
                out += ',';
            dimension(at + 1);
        }
        out += ']';
    }
};

} // namespace

std::string safetensorsHeader(const Tensor& tensor)
{
    return withLength({{"tensor",
        {{"dtype", safetensorsName(tensor.dtype())}, {"shape", tensor.shape()},
            {"data_offsets", {0, tensor.bytes()}}}}});
}

std::string safetensors(const Tile& tile)
{
    const std::size_t bytes = tile.mean.size() * sizeof(float);
    Json header{{"__metadata__",
        {{"row0", std::to_string(tile.row0)}, {"row1", std::to_string(tile.row1)},
            {"col0", std::to_string(tile.col0)}, {"col1", std::to_string(tile.col1)}}}};
    std::size_t at = 0;
    for (const char* name : {"mean", "min", "max"}) {
        header[name] = {
            {"dtype", "F32"}, {"shape", {tile.rows, tile.cols}}, {"data_offsets", {at, at + bytes}}};
        at += bytes;
    }
    std::string out = withLength(header);
    for (const std::vector<float>* plane : {&tile.mean, &tile.min, &tile.max})
        out.append(reinterpret_cast<const char*>(plane->data()), bytes);
    return out;
}

void appendLists(std::string& out, const Tensor& tensor, std::size_t& unsaid)
{
    Dtype dtype = tensor.dtype();
    std::vector<std::int64_t> shape = tensor.shape();
    if (isComplex(dtype)) { // a complex number is the pair [real, imaginary]
        dtype = dtype == Dtype::C64 ? Dtype::F32 : Dtype::F64;
        shape.push_back(2);
    }
    constexpr std::size_t roughly = 12;
    out.reserve(out.size() + tensor.elements() * roughly);
    withLoader(dtype, tensor.data().view().data(), [&](auto load) {
        ListWriter<decltype(load)> writer{out, shape, load, unsaid, dtype == Dtype::Bool};
        writer.dimension(0);
    });
}

} // namespace gb::rpc
