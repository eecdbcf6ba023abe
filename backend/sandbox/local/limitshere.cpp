// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "limitshere.h"

#include <algorithm>
#include <cmath>

#include <rpc/launch/controlgroup.h>
#include <rpc/launch/processorchoice.h>

namespace gb {
namespace {

std::string countOfProcessors()
{
    const std::size_t count = processorsHere().size();
    return std::to_string(count) + (count == 1 ? " processor" : " processors");
}

std::string wayOf(const std::string& limit)
{
    const auto here = limitsHere();
    return here.at(limit);
}

bool isWhole(double number)
{
    return std::abs(number - std::round(number)) < 1e-9;
}

} // namespace

std::map<std::string, std::string> limitsHere()
{
    static const auto kept = ControlGroup::tryOut();
    const auto isKept = [](ControlGroup::Limit limit) {
        return std::ranges::find(kept, limit) != kept.end();
    };
    return {{"memory", isKept(ControlGroup::Limit::Memory) ? "enforced" : "watched"},
        {"cpu", isKept(ControlGroup::Limit::Cpu) ? "enforced" : "pinned"}, {"disk", "watched"}};
}

std::map<std::string, FieldCapability> limitCapabilities()
{
    const std::string memory = wayOf("memory") == "enforced"
        ? "enforced by the system, which ends what would take more"
        : "watched here several times a second: a sandbox that takes more is ended";
    const std::string cpu = wayOf("cpu") == "enforced"
        ? "enforced by the system; there are " + countOfProcessors() + " here"
        : "kept here by pinning to whole processors, so 0.5 counts as 1; there are " + countOfProcessors();
    return {{"memory", {FieldCapability::State::Ok, memory}}, {"cpu", {FieldCapability::State::Ok, cpu}},
        {"disk",
            {FieldCapability::State::Ok,
                "watched here every other second, all its files together: a sandbox that writes more is "
                "ended"}}};
}

void planLimits(const SandboxSpec& spec, SandboxPlan& plan)
{
    using Severity = SpecProblem::Severity;
    if (spec.memory > 0) {
        plan.limits["memory"] = wayOf("memory");
        if (wayOf("memory") == "watched")
            plan.problems.push_back(
                {"memory", "is watched several times a second, not enforced by the system",
                    "\"glovebox doctor\" says what would change that", Severity::Warning});
    }
    if (spec.disk > 0)
        plan.limits["disk"] = wayOf("disk");
    if (spec.cpu > 0) {
        plan.limits["cpu"] = wayOf("cpu");
        if (wayOf("cpu") == "pinned" && !isWhole(spec.cpu))
            plan.problems.push_back({"cpu", "counts as " + std::to_string(std::lround(std::ceil(spec.cpu))),
                "only whole processors can be given here; \"glovebox doctor\" says what would change that",
                Severity::Warning});
    }
}

} // namespace gb
