// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "files.h"

namespace gb {

// Where everything of this user lives: GLOVEBOX_HOME, else $XDG_DATA_HOME/glovebox, else
// ~/.local/share/glovebox.
fs::path dataFolder();

// /tmp/glovebox-<uid>/<hash of the data folder>/ : sockets live here because their paths must be short and
// the runtime folder goes away at log-out while sandboxes run on. Created 0700, owner and links checked.
Result<fs::path> socketFolder(const fs::path& dataFolder);
Result<fs::path> daemonSocket(const fs::path& dataFolder);

// The folder of the running executable.
fs::path programFolder();

// What is not compiled: share/glovebox beside the programs' folder, with worker/, python/ and examples/.
fs::path shareFolder();

} // namespace gb
