// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "dtype.h"

#include <vector>

namespace gb::rpc {
namespace {

struct DtypeInfo
{
    std::string_view name;
    std::string_view safetensors;
    std::size_t size;
};

constexpr std::array<DtypeInfo, 17> dtypes{{{"f64", "F64", 8}, {"f32", "F32", 4}, {"f16", "F16", 2},
    {"bf16", "BF16", 2}, {"i64", "I64", 8}, {"i32", "I32", 4}, {"i16", "I16", 2}, {"i8", "I8", 1},
    {"u64", "U64", 8}, {"u32", "U32", 4}, {"u16", "U16", 2}, {"u8", "U8", 1}, {"bool", "BOOL", 1},
    {"c64", "C64", 8}, {"c128", "C128", 16}, {"f8_e4m3", "F8_E4M3", 1}, {"f8_e5m2", "F8_E5M2", 1}}};

const DtypeInfo& infoOf(Dtype dtype)
{
    return dtypes[static_cast<std::size_t>(dtype)];
}

// A binary floating-point format of few bits; "finite" formats (e4m3fn) use the largest exponent for numbers
// and only the pattern of all ones for NaN.
std::vector<float> smallFloats(int exponentBits, int mantissaBits, bool finite)
{
    const unsigned count = 1U << static_cast<unsigned>(1 + exponentBits + mantissaBits);
    const int bias = (1 << (exponentBits - 1)) - 1;
    const int largest = (1 << exponentBits) - 1;
    std::vector<float> table(count);
    for (unsigned bits = 0; bits < count; ++bits) {
        const auto mantissa = static_cast<int>(bits & ((1U << static_cast<unsigned>(mantissaBits)) - 1));
        const auto exponent = static_cast<int>(bits >> static_cast<unsigned>(mantissaBits)) & largest;
        float value = 0;
        if (exponent == largest && !finite)
            value = mantissa == 0 ? INFINITY : NAN;
        else if (exponent == largest && mantissa == (1 << mantissaBits) - 1)
            value = NAN;
        else if (exponent == 0)
            value = std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissaBits);
        else
            value = std::ldexp(
                static_cast<float>(mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits);
        table[bits] = (bits >> static_cast<unsigned>(exponentBits + mantissaBits)) != 0U ? -value : value;
    }
    return table;
}

} // namespace

std::optional<Dtype> dtypeNamed(std::string_view name)
{
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
        if (dtypes[i].name == name)
            return static_cast<Dtype>(i);
    }
    return std::nullopt;
}

std::string_view nameOf(Dtype dtype)
{
    return infoOf(dtype).name;
}

std::string_view safetensorsName(Dtype dtype)
{
    return infoOf(dtype).safetensors;
}

std::size_t sizeOf(Dtype dtype)
{
    return infoOf(dtype).size;
}

const float* halfTable()
{
    static const std::vector<float> table = smallFloats(5, 10, false);
    return table.data();
}

const float* e4m3Table()
{
    static const std::vector<float> table = smallFloats(4, 3, true);
    return table.data();
}

const float* e5m2Table()
{
    static const std::vector<float> table = smallFloats(5, 2, false);
    return table.data();
}

} // namespace gb::rpc
