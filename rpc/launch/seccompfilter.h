// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/fd.h>
#include <backend/base/result.h>

namespace gb {

// Whether a program may choose the processors it runs on.
enum class Affinity { Free, Fixed };

// The system calls no sandbox needs and every escape starts with, as a compiled filter in a memory file that
// bwrap can read from its beginning.
Result<UniqueFd> makeSeccompFilter(Affinity affinity);

} // namespace gb
