// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gb {

// The name that was probably meant; empty when none is like it.
std::string nearestName(std::string_view wanted, const std::vector<std::string>& known);

// What to say after "there is no …": `; did you mean "steer"?`, else the first few that there are.
std::string namesHint(std::string_view wanted, const std::vector<std::string>& known);

} // namespace gb
