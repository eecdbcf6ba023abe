// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "version.h"

namespace gb {

const char* version()
{
    return GB_VERSION;
}

} // namespace gb
