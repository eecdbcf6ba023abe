// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxrecord.h"

#include <algorithm>
#include <array>

namespace gb {
namespace {

constexpr std::array stateNames{std::pair{SandboxState::Planned, "planned"},
    std::pair{SandboxState::Building, "building"}, std::pair{SandboxState::Starting, "starting"},
    std::pair{SandboxState::Ready, "ready"}, std::pair{SandboxState::Stopping, "stopping"},
    std::pair{SandboxState::Stopped, "stopped"}, std::pair{SandboxState::Failed, "failed"}};

} // namespace

std::string_view toString(SandboxState state)
{
    for (const auto& [value, name] : stateNames) {
        if (value == state)
            return name;
    }
    return "failed";
}

std::optional<SandboxState> sandboxStateFrom(std::string_view text)
{
    for (const auto& [value, name] : stateNames) {
        if (text == name)
            return value;
    }
    return {};
}

bool mayFollow(SandboxState from, SandboxState to)
{
    using enum SandboxState;
    switch (from) {
    case Planned:
        return to == Building || to == Starting || to == Stopping || to == Failed;
    case Building:
        return to == Starting || to == Stopping || to == Failed;
    case Starting:
        return to == Ready || to == Stopping || to == Failed;
    case Ready:
        return to == Stopping || to == Failed;
    case Stopping:
        return to == Stopped;
    case Failed: // what is left of it can still be cleaned up
        return to == Stopping;
    case Stopped:
        return false;
    }
    return false;
}

bool SandboxRecord::isAlive() const
{
    return state != SandboxState::Stopped && state != SandboxState::Failed;
}

Json SandboxRecord::toJson() const
{
    return Json{{"v", 1}, {"id", id}, {"nonce", nonce}, {"experiment", experiment}, {"spec", spec.toJson()},
        {"state", toString(state)}, {"reason", reason}, {"created_at", createdAt}, {"since", since},
        {"handle", handle}, {"details", details}, {"stop_attempts", stopAttempts}};
}

Result<SandboxRecord> SandboxRecord::fromJson(const Json& json)
{
    SandboxRecord record;
    record.id = stringOr(json, "id");
    record.nonce = stringOr(json, "nonce");
    record.experiment = stringOr(json, "experiment");
    record.reason = stringOr(json, "reason");
    record.createdAt = integerOr(json, "created_at");
    record.since = integerOr(json, "since");
    record.handle = objectOr(json, "handle");
    record.details = objectOr(json, "details");
    record.stopAttempts = static_cast<int>(integerOr(json, "stop_attempts"));
    const auto state = sandboxStateFrom(stringOr(json, "state"));
    auto spec = SandboxSpec::fromJson(objectOr(json, "spec"));
    if (record.id.empty() || !state || !spec)
        return fail("sandbox.record", "not the record of a sandbox");
    record.state = *state;
    record.spec = std::move(*spec);
    return record;
}

} // namespace gb
