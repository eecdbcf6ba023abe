// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <unistd.h>

#include "error.h"
#include "result.h"

namespace gb {

// Writes a piece of a new file at its place, but leaves a piece of nothing but zeros out: a file that is a
// terabyte of hole stays one. Whoever has written the last piece gives the file its length (ftruncate).
inline Status writeKeepingHoles(int fd, std::string_view bytes, std::int64_t at)
{
    if (std::ranges::all_of(bytes, [](char byte) { return byte == 0; }))
        return {};
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return failErrno("cannot write", "a piece of the file", errno);
        bytes.remove_prefix(static_cast<std::size_t>(written));
        at += written;
    }
    return {};
}

} // namespace gb
