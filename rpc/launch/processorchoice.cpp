// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "processorchoice.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <sched.h>

namespace gb {

std::vector<int> processorsHere()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> found;
    if (::sched_getaffinity(0, sizeof set, &set) != 0)
        return found;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(static_cast<std::size_t>(processor), &set))
            found.push_back(processor);
    }
    return found;
}

std::vector<int> chooseProcessors(double cpu, std::string_view id)
{
    std::vector<int> all = processorsHere();
    if (all.empty())
        return all;
    const double whole = std::ceil(std::clamp(cpu, 1.0, static_cast<double>(all.size())));
    const auto first = std::hash<std::string_view>()(id) % all.size();
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
    all.resize(static_cast<std::size_t>(whole));
    return all;
}

} // namespace gb
