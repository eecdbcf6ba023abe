// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatcher.h"
#include "joblist.h"
#include "services.h"
#include "statehub.h"

namespace gb::service {
namespace {

struct StateParams
{
    JsonArray topics;
    static auto fields() { return std::tuple(field("topics", &StateParams::topics)); }
};

struct JobParams
{
    std::string job;
    static auto fields() { return std::tuple(field("job", &JobParams::job)); }
};

Result<Json> subscribeState(StateHub* state, const StateParams& params, Connection* connection)
{
    std::vector<std::string> names;
    for (const Json& name : params.topics.json) {
        if (!name.is_string())
            return fail("params.type", "topics must be names");
        names.push_back(name.get<std::string>());
    }
    auto topics = state->subscribe(connection, names);
    if (!topics)
        return fail(topics.error());
    return Json{{"topics", std::move(*topics)}};
}

} // namespace

void bindStateMethods(Dispatcher* dispatcher, const Services& services)
{
    dispatcher->binder().bind<StateParams>("state.subscribe",
        [state = services.state](const StateParams& params, const std::string&, Reply reply) {
            reply.finish(subscribeState(state, params, reply.connection()));
        });
}

void bindJobMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    JobList* jobs = services.jobs;
    binder.bind<NoParams>("jobs.list", [jobs](NoParams) { return jobs->list(); });
    binder.bind<JobParams>("jobs.get", [jobs](const JobParams& params) { return jobs->get(params.job); });
    binder.bind<JobParams>("jobs.cancel", [jobs](const JobParams& params) -> Result<Json> {
        GB_TRY(jobs->cancel(params.job));
        return Json::object();
    });
}

} // namespace gb::service
