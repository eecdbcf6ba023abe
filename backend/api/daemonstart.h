// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include <backend/base/fd.h>
#include <backend/base/files.h>

namespace gb::api {

// gloveboxd: $GLOVEBOX_BIN/gloveboxd, beside the running program, or in the bin folder beside its folder.
Result<fs::path> daemonProgram();

// Names the build a program stands in: the newest change among the program and its rooms' libraries, then a
// hash of all of them, so that of two builds the newer one sorts last. Empty if the program is not there.
std::string buildId(const fs::path& program);

// Starts a detached daemon with a clean environment. That it runs does not mean that it won: the lock in the
// data folder decides, and a loser just ends.
Status startDaemon(const fs::path& program, const fs::path& dataFolder);

// A non-blocking connection to a socket of this user; the peer's uid is checked.
Result<UniqueFd> connectLocal(const fs::path& socket);

// Whether a variable may be known to the daemon: it is started by anyone and must not depend on by whom.
bool isDaemonVariable(std::string_view name);

// What of the caller's environment travels with daemon.hello, because the daemon must not use its own: where
// programs, models, package indexes and proxies are.
Json clientEnvironment();

} // namespace gb::api
