// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "fd.h"
#include "result.h"

namespace gb {

namespace fs = std::filesystem;

Result<std::string> readFile(const fs::path& path, std::size_t limit = 64U << 20U);

// Replaces the file in one step (temporary file, fsync, rename, fsync of the folder).
Status writeFileAtomic(const fs::path& path, std::string_view bytes, unsigned mode = 0644);

// Makes the folder (and its parents) if missing; it must be a real folder of ours with no access for others.
Status ensurePrivateDir(const fs::path& path);

// Holds the file locked for as long as the descriptor lives; "io.locked" when another process does. The lock
// goes with its holder, however that ends, so "can be locked" means "nobody is there".
Result<UniqueFd> holdLock(const fs::path& path);

} // namespace gb
