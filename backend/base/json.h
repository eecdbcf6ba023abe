// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json.hpp>

#include "result.h"

namespace gb {

// What one message may contain. nlohmann's ordered objects look keys up linearly, so an object with very many
// keys is an attack; nesting deeper than a person writes is one too.
struct JsonLimits
{
    int depth = 64;
    int keysPerObject = 4096;
};

// Parses untrusted text: depth and keys are capped, duplicate keys and trailing bytes are errors.
Result<Json> parseJson(std::string_view text, JsonLimits limits = {});

// Typed look-ups; the error names the field, what came and what was expected.
Result<std::string> requireString(const Json& object, std::string_view key);
Result<std::int64_t> requireInteger(const Json& object, std::string_view key);
std::string stringOr(const Json& object, std::string_view key, std::string fallback = {});
std::int64_t integerOr(const Json& object, std::string_view key, std::int64_t fallback = 0);
double numberOr(const Json& object, std::string_view key, double fallback = 0);
bool boolOr(const Json& object, std::string_view key, bool fallback = false);
// The member when it is an object, otherwise an empty one.
Json objectOr(const Json& object, std::string_view key);

} // namespace gb
