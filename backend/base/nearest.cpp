// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "nearest.h"

#include <algorithm>
#include <numeric>

namespace gb {
namespace {

constexpr std::size_t longestWanted = 100; // whoever sends more did not mistype a name
constexpr std::size_t namesListed = 8;

// Letters to put in, take out, change, or swap with their neighbour.
std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

} // namespace

std::string nearestName(std::string_view wanted, const std::vector<std::string>& known)
{
    if (wanted.empty() || wanted.size() > longestWanted)
        return {};
    std::string nearest;
    // The shorter, the fewer letters may be wrong.
    std::size_t best = (wanted.size() <= 3 ? 1 : wanted.size() <= 7 ? 2 : 3) + 1;
    for (const std::string& name : known) {
        if (name.size() > longestWanted)
            continue;
        if (const std::size_t distance = editDistance(wanted, name); distance < best) {
            best = distance;
            nearest = name;
        }
    }
    return nearest;
}

std::string namesHint(std::string_view wanted, const std::vector<std::string>& known)
{
    if (const std::string nearest = nearestName(wanted, known); !nearest.empty())
        return "; did you mean \"" + nearest + "\"?";
    if (known.empty())
        return {};
    std::string text = known.size() == 1 ? "; there is only " : "; there are ";
    const std::size_t listed = std::min(known.size(), namesListed);
    for (std::size_t i = 0; i < listed; ++i)
        text += (i == 0 ? "" : i + 1 == known.size() ? " and " : ", ") + known[i];
    if (known.size() > listed)
        text += " and " + std::to_string(known.size() - listed) + " more";
    return text;
}

} // namespace gb
