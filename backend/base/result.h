// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "error.h"

namespace gb {

// Everything that can fail returns one of these; no exception crosses a room.
template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(std::string code, std::string message, Json data = Json::object())
{
    return tl::unexpected<Error>(Error{std::move(code), std::move(message), std::move(data)});
}

inline tl::unexpected<Error> fail(Error error)
{
    return tl::unexpected<Error>(std::move(error));
}

// Error from errno, naming what was tried and on what.
tl::unexpected<Error> failErrno(std::string_view what, std::string_view subject, int errorNumber);

} // namespace gb

// Returns the error of a Result<…> expression from the calling function.
#define GB_TRY(expression)                                                                                   \
    do {                                                                                                     \
        if (auto gbTried = (expression); !gbTried)                                                           \
            return tl::unexpected<gb::Error>(std::move(gbTried).error());                                    \
    } while (false)
