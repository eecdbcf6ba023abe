// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <vector>

#include <sys/types.h>

namespace gb {

// bwrap's inner process waits for a word from the outer one. When that is killed within the milliseconds
// before the inner one asked to die with it, the inner one waits for ever, with nothing in it yet. Kills
// those that are older than `age`; answers which they were.
//
// A stray is a process of this user's ids that is process 1 of a pid namespace, still has the command line of
// a bwrap that was to start our init, and whose parent is not that bwrap. (A sandbox that runs has become its
// init; one that starts is its bwrap's child.)
std::vector<pid_t> endStrays(std::chrono::seconds age);

} // namespace gb
