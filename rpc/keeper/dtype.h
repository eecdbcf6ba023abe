// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace gb::rpc {

// The element types of the wire.
enum class Dtype {
    F64,
    F32,
    F16,
    BF16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    C64,
    C128,
    F8E4M3,
    F8E5M2
};

std::optional<Dtype> dtypeNamed(std::string_view name);
std::string_view nameOf(Dtype dtype); // ours
std::string_view safetensorsName(Dtype dtype);
std::size_t sizeOf(Dtype dtype);
inline bool isComplex(Dtype dtype)
{
    return dtype == Dtype::C64 || dtype == Dtype::C128;
}

// The small floating-point formats are looked up, 64 Ki and 256 values.
const float* halfTable();
const float* e4m3Table();
const float* e5m2Table();

template <typename T>
struct PlainLoad
{
    using Value = T;
    const char* data;
    T operator()(std::size_t i) const
    {
        T value;
        std::memcpy(&value, data + i * sizeof(T), sizeof(T));
        return value;
    }
};

struct Bf16Load
{
    using Value = float;
    const char* data;
    float operator()(std::size_t i) const
    {
        std::uint16_t bits = 0;
        std::memcpy(&bits, data + i * 2, 2);
        const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16U;
        float value = 0;
        std::memcpy(&value, &wide, 4);
        return value;
    }
};

template <typename Bits>
struct TableLoad
{
    using Value = float;
    const char* data;
    const float* table;
    float operator()(std::size_t i) const { return table[PlainLoad<Bits>{data}(i)]; }
};

// Calls use() with a function from index to number; complex tensors are pairs of floats and not handled here.
template <typename Use>
void withLoader(Dtype dtype, const char* data, Use use)
{
    switch (dtype) {
    case Dtype::F64:
        return use(PlainLoad<double>{data});
    case Dtype::F32:
        return use(PlainLoad<float>{data});
    case Dtype::F16:
        return use(TableLoad<std::uint16_t>{data, halfTable()});
    case Dtype::BF16:
        return use(Bf16Load{data});
    case Dtype::I64:
        return use(PlainLoad<std::int64_t>{data});
    case Dtype::I32:
        return use(PlainLoad<std::int32_t>{data});
    case Dtype::I16:
        return use(PlainLoad<std::int16_t>{data});
    case Dtype::I8:
        return use(PlainLoad<std::int8_t>{data});
    case Dtype::U64:
        return use(PlainLoad<std::uint64_t>{data});
    case Dtype::U32:
        return use(PlainLoad<std::uint32_t>{data});
    case Dtype::U16:
        return use(PlainLoad<std::uint16_t>{data});
    case Dtype::U8:
    case Dtype::Bool:
        return use(PlainLoad<std::uint8_t>{data});
    case Dtype::F8E4M3:
        return use(TableLoad<std::uint8_t>{data, e4m3Table()});
    case Dtype::F8E5M2:
        return use(TableLoad<std::uint8_t>{data, e5m2Table()});
    case Dtype::C64:
    case Dtype::C128:
        return;
    }
}

} // namespace gb::rpc
