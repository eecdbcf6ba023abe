// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace gb::service {

// A text to be pasted in public: without the person's folders and name, and without what looks like a secret.
std::string redacted(std::string text);

} // namespace gb::service
