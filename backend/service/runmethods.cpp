// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "dispatcher.h"
#include "runtopic.h"
#include "services.h"

namespace gb::service {
namespace {

struct ListRunsParams
{
    std::optional<std::int64_t> limit;
    static auto fields() { return std::tuple(field("limit", &ListRunsParams::limit)); }
};

struct RunParams
{
    std::string run;
    static auto fields() { return std::tuple(field("run", &RunParams::run)); }
};

Result<Json> listRuns(const Store* store, const ListRunsParams& params)
{
    const auto limit = static_cast<int>(std::clamp<std::int64_t>(params.limit.value_or(50), 1, 1000));
    const auto runs = store->listRuns(limit);
    if (!runs)
        return fail(runs.error());
    Json all = Json::array();
    for (const RunRecord& run : *runs)
        all.push_back(runItem(run));
    return Json{{"runs", std::move(all)}};
}

Result<Json> getRun(const Store* store, const RunParams& params)
{
    const auto run = store->getRun(params.run);
    if (!run)
        return fail(run.error());
    return runItem(*run);
}

} // namespace

void bindRunMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    const Store* store = services.store;
    binder.bind<ListRunsParams>(
        "runs.list", [store](const ListRunsParams& params) { return listRuns(store, params); });
    binder.bind<RunParams>("runs.get", [store](const RunParams& params) { return getRun(store, params); });
}

} // namespace gb::service
