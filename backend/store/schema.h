// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "sqlite.h"

namespace gb {

// What must be on disk before anyone is told that a write is done. Off exists for one test: it shows that the
// power-cut test can fail.
enum class Synchronous { Full, Off };

struct Schema
{
    std::int32_t applicationId;
    const char* const* migrations; // number i brings a file from version i to i + 1
    int version;
};

extern const Schema indexSchema;
extern const Schema runSchema;

struct FileOptions
{
    std::string vfs;
    Synchronous synchronous = Synchronous::Full;
};

// Opens for writing, brought to the newest version. A file that a newer program wrote is refused with
// store.newer before a byte of it is changed.
Result<std::unique_ptr<Database>> openForWriting(
    const fs::path& path, const Schema& schema, const FileOptions& options);
Result<std::unique_ptr<Database>> openForReading(
    const fs::path& path, const Schema& schema, const FileOptions& options);

} // namespace gb
