// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "files.h"

namespace gb {

// One line of JSON per entry: {"at","level","room","text",…fields}. Thread-safe. Goes to standard error until
// logToFile() is called. Never give it a secret.
void logInfo(std::string_view room, std::string_view text, const Json& fields = Json::object());
void logWarning(std::string_view room, std::string_view text, const Json& fields = Json::object());
void logError(std::string_view room, std::string_view text, const Json& fields = Json::object());

// Appends to the file from now on; at 8 MB the file moves to "<name>.1".
Status logToFile(const fs::path& path);
// Nothing below a warning (tests, --quiet).
void logQuiet(bool quiet);

} // namespace gb
