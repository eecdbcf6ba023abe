// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>

#include <backend/base/json.h>

namespace gb::api {

inline constexpr int protocolVersion = 1;

// One row of the API's table (README.md). The daemon binds a handler to every row and the Python client has
// one function per row; tests prove it.
struct Method
{
    std::string_view name;
    bool op = false; // mutating: takes an `op`
    bool job = false; // answers {"job": id} at once
    std::string_view params; // "stream: string, since: integer, limit?: integer"; without op
    std::string_view summary;
};

std::span<const Method> methods();
const Method* findMethod(std::string_view name);
Json toJson(const Method& method); // params as [{name, type, required}]

} // namespace gb::api
