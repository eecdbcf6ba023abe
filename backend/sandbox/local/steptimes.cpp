// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "steptimes.h"

#include <backend/base/clock.h>
#include <backend/base/hash.h>
#include <backend/base/json.h>
#include <backend/base/log.h>

namespace gb {
namespace {

constexpr std::size_t mostKept = 500;

// Ids name addresses of repos; their times are nobody's way to read those.
std::string nameOf(const PlanStep& step)
{
    constexpr std::size_t enough = 24;
    return sha256Hex(step.id).substr(0, enough);
}

void forgetOldest(Json& all)
{
    auto oldest = all.begin();
    for (auto one = all.begin(); one != all.end(); ++one) {
        if (integerOr(*one, "at") < integerOr(*oldest, "at"))
            oldest = one;
    }
    all.erase(oldest);
}

} // namespace

Json StepTimes::read() const
{
    auto json = parseJson(readFile(m_file).value_or("{}"));
    return json && json->is_object() ? std::move(*json) : Json::object();
}

void StepTimes::keep(const PlanStep& step, double seconds)
{
    constexpr unsigned onlyOurs = 0600;
    const std::lock_guard lock(m_mutex);
    Json all = read();
    Json& one = all[nameOf(step)];
    one = Json{{"seconds", seconds}, {"at", wallMs()}};
    if (step.bytes)
        one["bytes"] = *step.bytes;
    if (all.size() > mostKept)
        forgetOldest(all);
    if (const Status kept = writeFileAtomic(m_file, all.dump(1), onlyOurs); !kept)
        logWarning("local", kept.error().message);
}

void StepTimes::fill(std::vector<PlanStep>& steps) const
{
    const std::lock_guard lock(m_mutex);
    const Json all = read();
    for (PlanStep& step : steps) {
        const auto known = all.find(nameOf(step));
        if (step.reused || known == all.end() || !known->is_object())
            continue;
        if (known->contains("seconds"))
            step.seconds = numberOr(*known, "seconds");
        if (!step.bytes && known->contains("bytes"))
            step.bytes = integerOr(*known, "bytes");
    }
}

} // namespace gb
