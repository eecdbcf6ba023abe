// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/json.h>

namespace gb::rpc {

// Runs the keeper of one sandbox to its end, from the member "sandbox" of the configuration (README.md).
// Prints one line on standard output: where it can be reached, or why there is no sandbox. The descriptor,
// when there is one, belongs to whoever started us; its end is ours. Returns the exit status of the program.
int runBox(const Json& sandbox, int lifeline);

} // namespace gb::rpc
