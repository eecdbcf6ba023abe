// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "initclient.h"

namespace gb {

// Copies a folder of this machine into the sandbox: packed as a tar stream outside, unpacked by the sandbox's
// own tar, so neither a link in the folder nor a ".." in a name can reach further than the sandbox.
Status copyFolderIn(InitClient& init, const fs::path& folder, const std::string& inside);

} // namespace gb
