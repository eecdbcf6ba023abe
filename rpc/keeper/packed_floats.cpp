// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "packed_floats.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "values.h"

namespace gb::rpc {
namespace {

static_assert(std::endian::native == std::endian::little);

// Below that it is not worth the other form.
constexpr std::size_t fewest = 256;

const char* skipSpaces(const char* at, const char* end)
{
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        ++at;
    return at;
}

// One past the string that begins here.
std::size_t endOfString(std::string_view json, std::size_t at)
{
    for (at = json.find_first_of("\"\\", at + 1); at != std::string_view::npos && json[at] == '\\';)
        at = json.find_first_of("\"\\", at + 2);
    return at == std::string_view::npos ? json.size() : at + 1;
}

// One past the list that begins here, when it holds nothing but fractional numbers.
std::optional<std::size_t> readFloats(std::string_view json, std::size_t from, std::vector<double>& values)
{
    const char* const end = json.data() + json.size();
    const char* at = json.data() + from;
    values.clear();
    while (at != end) {
        at = skipSpaces(at + 1, end);
        double value = 0;
        const auto read = std::from_chars(at, end, value);
        const auto isFraction = [](char c) { return c == '.' || c == 'e' || c == 'E'; };
        if (read.ec != std::errc() || std::none_of(at, read.ptr, isFraction))
            return std::nullopt;
        values.push_back(value);
        at = skipSpaces(read.ptr, end);
        if (at != end && *at == ']')
            return at + 1 - json.data();
        if (at != end && *at != ',')
            return std::nullopt;
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> packFloats(std::string_view json)
{
    std::optional<std::string> out;
    std::size_t copied = 0;
    constexpr std::size_t usualDigits = 16;
    std::vector<double> values;
    values.reserve(json.size() / usualDigits); // untouched memory costs nothing, growing does
    for (std::size_t at = json.find_first_of("[\""); at != std::string_view::npos;
         at = json.find_first_of("[\"", at)) {
        if (json[at] == '"') {
            at = endOfString(json, at);
            continue;
        }
        const auto end = readFloats(json, at, values);
        if (!end || values.size() < fewest) {
            at = end.value_or(at + 1);
            continue;
        }
        if (!out)
            out.emplace().reserve(json.size());
        out->append(json.substr(copied, at - copied)).append(R"({"$gb":"floats","v":")");
        appendBase64(*out, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
        out->append("\"}");
        copied = at = *end;
    }
    if (out)
        out->append(json.substr(copied));
    return out;
}

} // namespace gb::rpc
