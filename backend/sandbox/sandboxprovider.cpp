// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxprovider.h"

#include <algorithm>

namespace gb {
namespace {

const char* fieldStateName(FieldCapability::State state)
{
    switch (state) {
    case FieldCapability::State::Ok:
        return "ok";
    case FieldCapability::State::Hidden:
        return "hidden";
    case FieldCapability::State::Disabled:
        break;
    }
    return "disabled";
}

} // namespace

Json SandboxCapabilities::toJson() const
{
    Json json{{"id", id}, {"title", title}, {"available", available}, {"gpus", gpus}, {"network", network},
        {"fields", Json::object()}, {"interpreters", Json::array()}, {"python_versions", pythonVersions},
        {"models", Json::array()}};
    if (!reason.empty())
        json["reason"] = reason;
    if (!limits.empty())
        json["limits"] = limits;
    for (const auto& [name, field] : fields) {
        Json one{{"state", fieldStateName(field.state)}};
        if (!field.reason.empty())
            one["reason"] = field.reason;
        json["fields"][name] = std::move(one);
    }
    for (const InterpreterChoice& one : interpreters)
        json["interpreters"].push_back({{"path", one.path}, {"version", one.version}});
    for (const LocalModel& model : models)
        json["models"].push_back({{"name", model.name}, {"path", model.folder.string()}});
    return json;
}

Json PlanStep::toJson() const
{
    Json json{{"id", id}, {"title", title}, {"kind", kind}, {"reused", reused}};
    if (bytes)
        json["bytes"] = *bytes;
    if (seconds)
        json["seconds"] = *seconds;
    if (!page.empty())
        json["page"] = page;
    return json;
}

bool SandboxPlan::isPossible() const
{
    return std::ranges::none_of(problems,
        [](const SpecProblem& problem) { return problem.severity == SpecProblem::Severity::Error; });
}

Json SandboxImage::toJson() const
{
    return Json{{"key", key}, {"title", title}, {"packages", packages}, {"bytes", bytes},
        {"built_at", builtAt}, {"used_at", usedAt}, {"in_use", inUse}};
}

} // namespace gb
