// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include <backend/base/files.h>

namespace gb::service {

// A text to be pasted in public: without the person's folders and name, and without what looks like a secret.
std::string redacted(std::string text, const fs::path& dataFolder);

} // namespace gb::service
