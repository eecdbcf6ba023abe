// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <QString>

namespace gb::ui {

// Where one value stands in a JSON text. A result of 100 MB is never made into objects: containers are cut
// into slices when somebody looks inside. The text was checked by the daemon; anything odd ends a scan early.
struct JsonSlice
{
    std::uint32_t keyBegin = 0; // inside the quotes; keyBegin == keyEnd: no key
    std::uint32_t keyEnd = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

enum class JsonKind { Null, Boolean, Number, String, Array, Object, Broken };

JsonSlice wholeJson(std::string_view text);
JsonKind jsonKind(std::string_view text, const JsonSlice& slice);
std::vector<JsonSlice> jsonChildren(
    std::string_view text, const JsonSlice& slice, std::size_t limit = SIZE_MAX);
std::optional<JsonSlice> jsonMember(std::string_view text, const JsonSlice& slice, std::string_view key);
std::optional<double> jsonNumber(std::string_view text, const JsonSlice& slice);

inline std::string_view jsonBytes(std::string_view text, const JsonSlice& slice)
{
    return text.substr(slice.begin, slice.end - slice.begin);
}
// The characters of a string value, unescaped; at most `limit` bytes of it are looked at.
QString jsonString(std::string_view text, const JsonSlice& slice, std::size_t limit = 1U << 20U);
QString jsonKey(std::string_view text, const JsonSlice& slice);
// One line for a list: the value, or "{3}" and "[1 000]" is left to the caller.
QString jsonScalarText(std::string_view text, const JsonSlice& slice, std::size_t limit = 400);

// All numbers of an array of numbers (record-form NaN and infinities count); nothing when something else is
// in it.
std::optional<std::vector<double>> jsonNumbers(std::string_view text, const JsonSlice& slice);

} // namespace gb::ui
