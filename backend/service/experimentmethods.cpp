// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/experiments/experimentfolder.h>
#include <backend/experiments/experimenttext.h>
#include <backend/experiments/trust.h>

#include "background.h"
#include "dispatcher.h"
#include "experimentwatch.h"
#include "joblist.h"
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

struct ReadTextParams
{
    std::string experiment;
    std::optional<std::string> name;
    static auto fields()
    {
        return std::tuple(
            field("experiment", &ReadTextParams::experiment), field("name", &ReadTextParams::name));
    }
};

struct WriteTextParams
{
    std::string experiment;
    std::optional<std::string> name;
    std::string text;
    std::string etag;
    static auto fields()
    {
        return std::tuple(field("experiment", &WriteTextParams::experiment),
            field("name", &WriteTextParams::name), field("text", &WriteTextParams::text),
            field("etag", &WriteTextParams::etag));
    }
};

std::string nameOr(const std::optional<std::string>& name)
{
    return name.value_or("experiment.toml");
}

Result<api::Answer> readText(const ReadTextParams& params)
{
    auto read = readExperimentText(params.experiment, nameOr(params.name));
    if (!read)
        return fail(std::move(read).error());
    return api::Answer{
        Json{{"path", read->path.string()}, {"text", std::move(read->text)}, {"etag", read->etag}}, {}};
}

Result<api::Answer> writeText(const WriteTextParams& params)
{
    const auto written =
        writeExperimentText(params.experiment, nameOr(params.name), params.text, params.etag);
    if (!written)
        return fail(written.error());
    return api::Answer{Json{{"path", written->path.string()}, {"etag", written->etag}}, {}};
}

// A disk may be slow, so neither happens on the daemon's own thread.
void bindTexts(Binder& binder, JobList* guard, ExperimentWatch* watch)
{
    binder.bind<ReadTextParams>(
        "experiments.read", [guard, watch](const ReadTextParams& params, const std::string&, Reply reply) {
            // Who has read it hears of changes.
            watch->follow(params.experiment);
            answerFromPool(guard, std::move(reply), [params] { return readText(params); });
        });
    binder.bind<WriteTextParams>(
        "experiments.write", [guard](WriteTextParams params, const std::string&, Reply reply) {
            answerFromPool(
                guard, std::move(reply), [params = std::move(params)] { return writeText(params); });
        });
}

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
    bindTexts(binder, services.jobs, services.experiments);
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
