// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/fd.h>
#include <backend/base/result.h>

namespace gb::rpc {

// SIGINT and SIGTERM arrive on this descriptor from now on (signalfd_siginfo); SIGPIPE is ignored. Called
// before there is any other thread.
Result<UniqueFd> catchEndSignals();

} // namespace gb::rpc
