// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <backend/base/files.h>

namespace gb {

// SQLite's log needs shared memory and working locks, which network file systems do not give: they are
// refused with advice. `typeOf` gives the statfs magic of a folder (empty: ask the system).
Status refuseNetworkFolder(
    const fs::path& folder, const std::function<std::uint64_t(const fs::path&)>& typeOf);

} // namespace gb
