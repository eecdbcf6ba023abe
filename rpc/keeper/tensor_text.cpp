// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
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

// Returns the end of what it wrote: up to 40 characters.
template <typename Value>
char* writeNumber(char* to, Value value, std::size_t& unsaid)
{
    constexpr std::size_t longest = 38;
    if constexpr (std::is_floating_point_v<Value>) {
        if (value - value != 0) {
            ++unsaid;
            return std::copy_n("null", 4, to);
        }
    }
    auto [end, error] = std::to_chars(to, to + longest, value);
    if constexpr (std::is_floating_point_v<Value>) {
        // A float stays one for readers that tell them from whole numbers.
        if (value == std::trunc(value) && std::find(to, end, 'e') == end) {
            *end++ = '.';
            *end++ = '0';
        }
    }
    return end;
}

// Characters go through a block: a string asks for room at each of them.
template <typename Load>
class ListWriter
{
public:
    ListWriter(std::string& out, const std::vector<std::int64_t>& shape, Load load, std::size_t& unsaid,
        bool boolean)
        : m_out(out), m_shape(shape), m_load(load), m_unsaid(unsaid), m_boolean(boolean)
    { }

    void write()
    {
        dimension(0);
        flush();
    }

private:
    void element()
    {
        const auto value = m_load(m_next++);
        if (m_boolean)
            m_at = value != 0 ? std::copy_n("true", 4, m_at) : std::copy_n("false", 5, m_at);
        else
            m_at = writeNumber(m_at, value, m_unsaid);
    }
    void dimension(std::size_t depth)
    {
        constexpr std::ptrdiff_t room = 64; // one number and what surrounds it
        if (m_block.data() + m_block.size() - m_at < room)
            flush();
        if (depth == m_shape.size())
            return element();
        *m_at++ = '[';
        for (std::int64_t i = 0; i < m_shape[depth]; ++i) {
            if (i > 0)
                *m_at++ = ',';
            dimension(depth + 1);
        }
        *m_at++ = ']';
    }
    void flush()
    {
        m_out.append(m_block.data(), m_at);
        m_at = m_block.data();
    }

    std::string& m_out;
    const std::vector<std::int64_t>& m_shape;
    Load m_load;
    std::size_t& m_unsaid;
    bool m_boolean;
    std::size_t m_next = 0;
    std::array<char, 8192> m_block;
    char* m_at = m_block.data();
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
        ListWriter<decltype(load)>(out, shape, load, unsaid, dtype == Dtype::Bool).write();
    });
}

} // namespace gb::rpc
