// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <vector>

namespace gb {

// The processors this process may run on.
std::vector<int> processorsHere();
// As many of them as it takes for so much of their time; another id gets others, so that sandboxes spread.
std::vector<int> chooseProcessors(double cpu, std::string_view id);

} // namespace gb
