// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arguments.h"
#include "console.h"

namespace gb::cli {

// "cp A NAME:B" and "cp NAME:A B", for files and folders, as cp -r does it.
int copyWithSandbox(const Arguments& arguments, Console& console);

} // namespace gb::cli
