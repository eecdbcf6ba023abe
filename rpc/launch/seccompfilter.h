// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/fd.h>
#include <backend/base/result.h>

namespace gb {

// The system calls no sandbox needs and every escape starts with, as a compiled filter in a memory file that
// bwrap can read from its beginning.
Result<UniqueFd> makeSeccompFilter();

} // namespace gb
