// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace gb {

const char* version(); // "0.1.0", from .cmake/version

} // namespace gb
