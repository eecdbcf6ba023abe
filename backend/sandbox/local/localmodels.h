// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "localrecipe.h"

namespace gb {

// Of this model and the base it names, those that are not here.
std::vector<std::string> modelsToFetch(const StartRequest& request, const ModelSpec& model);

// Of a file, or of everything below a folder; an estimate.
std::int64_t bytesIn(const fs::path& path);

} // namespace gb
