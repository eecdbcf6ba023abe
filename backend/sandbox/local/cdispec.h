// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/json.h>

#include "gpuaccess.h"

namespace gb {

// A specification of the Container Device Interface. Its hooks are programs for a container's engine and are
// not run: the folders and links they would make known are taken from their arguments.
Result<GpusHere> readCdi(const Json& json, const fs::path& root);

} // namespace gb
