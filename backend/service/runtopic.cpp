// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "runtopic.h"

#include "onmain.h"
#include "statehub.h"

namespace gb::service {
namespace {

constexpr std::size_t runsShown = 50;

void dropOldRuns(StateHub* state)
{
    // Ids sort by time, so the first ones that have ended are the oldest.
    const auto& items = state->items("runs");
    std::vector<std::string> old;
    for (const auto& [id, item] : items) {
        if (items.size() - old.size() <= runsShown)
            break;
        if (stringOr(item, "state") == "ended")
            old.push_back(id);
    }
    for (const std::string& id : old)
        state->remove("runs", id);
}

} // namespace

Json runItem(const RunRecord& run)
{
    Json item{{"id", run.id}, {"kind", run.kind}, {"title", run.title},
        {"state", run.endedAt == 0 ? "live" : "ended"}, {"started_at", run.startedAt}, {"calls", run.calls},
        {"errors", run.errors}, {"pinned", run.pinned}};
    if (!run.experiment.empty())
        item["experiment"] = run.experiment;
    if (run.endedAt != 0)
        item["ended_at"] = run.endedAt;
    return item;
}

void publishRuns(Store* store, StateHub* state)
{
    const auto runs = store->listRuns(static_cast<int>(runsShown));
    if (!runs)
        return;
    for (const RunRecord& run : *runs)
        state->set("runs", run.id, runItem(run));
}

void publishRun(Store* store, StateHub* state, const std::string& run)
{
    const auto record = store->getRun(run);
    if (!record)
        return;
    state->set("runs", run, runItem(*record));
    dropOldRuns(state);
}

void endRunIfLive(Store* store, const std::string& run)
{
    const auto record = store->getRun(run);
    if (record && record->endedAt == 0)
        store->endRun(run, logged("cannot end a run"));
}

} // namespace gb::service
