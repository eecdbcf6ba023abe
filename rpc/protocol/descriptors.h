// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <span>

#include <sys/uio.h>

#include <backend/base/fd.h>

namespace gb::rpc {

// Open files travel beside the bytes of a UNIX socket (SCM_RIGHTS). Both return what sendmsg and recvmsg do.

// The descriptor, when there is one, goes with the first byte.
ssize_t sendBeside(int socket, std::span<iovec> parts, int descriptor, int flags);
// At most so many come with one message; what is beyond that the kernel closes. All are closed on exec.
ssize_t receiveBeside(
    int socket, std::span<char> to, std::deque<UniqueFd>& arrived, std::size_t most, int flags);

bool isStreamSocket(int descriptor); // what came may be anything

// What the kernel lets one message carry.
constexpr std::size_t mostDescriptors = 253;

} // namespace gb::rpc
