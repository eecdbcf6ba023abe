// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/files.h>

#include "arguments.h"

namespace gb::cli {

// What glovebox-host is told on its standard input.
Result<Json> hostConfiguration(const Arguments& arguments);
// The person's Python: --python, else $VIRTUAL_ENV's, else the first python3 on PATH.
Result<std::string> choosePython(const std::string& wanted);
// The same, asked where it really is: what lies on PATH may be a script that looks for it.
Result<std::string> chooseInterpreter(const std::string& wanted);

} // namespace gb::cli
