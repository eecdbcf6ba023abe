// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/experiments/experimentfolder.h>
#include <backend/experiments/trust.h>

#include "dispatcher.h"
#include "services.h"

namespace gb::service {
namespace {

struct OpenParams
{
    std::string path;
    static auto fields() { return std::tuple(field("path", &OpenParams::path)); }
};

struct NewParams
{
    std::string path;
    std::optional<std::string> example;
    static auto fields()
    {
        return std::tuple(field("path", &NewParams::path), field("example", &NewParams::example));
    }
};

Result<Json> remembered(const RecentExperiments& recent, const Result<Experiment>& experiment)
{
    if (!experiment)
        return fail(experiment.error());
    GB_TRY(recent.add(*experiment));
    return experiment->toJson();
}

} // namespace

void bindExperimentMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    const RecentExperiments recent(services.dataFolder);
    binder.bind<NoParams>("experiments.list", [recent](NoParams) -> Result<Json> {
        auto all = recent.list();
        if (!all)
            return fail(all.error());
        return Json{{"experiments", std::move(*all)}};
    });
    binder.bind<OpenParams>("experiments.open",
        [recent](const OpenParams& params) { return remembered(recent, openExperiment(params.path)); });
    const TrustList trust(services.dataFolder);
    binder.bind<NewParams>(
        "experiments.new", [recent, trust](const NewParams& params, const std::string&, Reply reply) {
            // The op is the new experiment's id, so that a repeat finds what the first attempt made.
            const auto made = newExperiment(params.path, reply.op(), params.example.value_or(std::string()));
            if (made) {
                if (const Status own = trust.addOwn(made->id); !own)
                    return reply.refuse(own.error());
            }
            reply.finish(remembered(recent, made));
        });
}

} // namespace gb::service
