// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <backend/models/modeldownloads.h>
#include <backend/models/modelqueries.h>
#include <backend/secrets/secretstore.h>
#include <backend/tasks/threadjob.h>

#include "background.h"
#include "dispatcher.h"
#include "hubmodelsource.h"
#include "joblist.h"
#include "sandboxes.h"
#include "services.h"

namespace gb::service {
namespace {

struct GetModelParams
{
    std::string model;
    std::optional<JsonArray> include;
    std::optional<JsonArray> exclude;
    std::optional<std::int64_t> priority;
    static auto fields()
    {
        return std::tuple(field("model", &GetModelParams::model), field("include", &GetModelParams::include),
            field("exclude", &GetModelParams::exclude), field("priority", &GetModelParams::priority));
    }
};

struct ModelParams
{
    std::string model;
    static auto fields() { return std::tuple(field("model", &ModelParams::model)); }
};

struct VerifyModelParams
{
    std::string model;
    std::optional<bool> repair;
    static auto fields()
    {
        return std::tuple(
            field("model", &VerifyModelParams::model), field("repair", &VerifyModelParams::repair));
    }
};

struct RemoveModelParams
{
    std::string model;
    std::optional<bool> all;
    std::optional<bool> loose;
    std::optional<bool> force;
    static auto fields()
    {
        return std::tuple(field("model", &RemoveModelParams::model), field("all", &RemoveModelParams::all),
            field("loose", &RemoveModelParams::loose), field("force", &RemoveModelParams::force));
    }
};

struct DownloadParams
{
    std::optional<std::string> download;
    static auto fields() { return std::tuple(field("download", &DownloadParams::download)); }
};

struct OneDownloadParams
{
    std::string download;
    static auto fields() { return std::tuple(field("download", &OneDownloadParams::download)); }
};

struct DownloadPriorityParams
{
    std::string download;
    std::int64_t priority = 0;
    static auto fields()
    {
        return std::tuple(field("download", &DownloadPriorityParams::download),
            field("priority", &DownloadPriorityParams::priority));
    }
};

hub::HubSettings hubSettingsOf(const Reply& reply, const SecretStore& secrets)
{
    const auto variables = reply.caller().environment;
    return hubSettingsFrom(
        variables ? *variables : std::map<std::string, std::string>(), secrets.value("HF_TOKEN"));
}

Result<api::Answer> toAnswer(Result<Json> result)
{
    if (!result)
        return fail(std::move(result).error());
    return api::Answer{std::move(*result), {}};
}

std::vector<std::string> stringsOf(const std::optional<JsonArray>& array)
{
    std::vector<std::string> strings;
    if (array) {
        for (const Json& item : array->json) {
            if (item.is_string())
                strings.push_back(item.get<std::string>());
        }
    }
    return strings;
}

Result<Json> getModel(const Services& services, const GetModelParams& params, const Reply& reply)
{
    auto name = hub::ModelName::parse(params.model);
    if (!name)
        return fail(name.error());
    DownloadSpec spec;
    spec.model = std::move(*name);
    spec.choice = {stringsOf(params.include), stringsOf(params.exclude)};
    spec.hub = hubSettingsOf(reply, *services.secrets);
    spec.priority = static_cast<int>(std::clamp<std::int64_t>(params.priority.value_or(0), -1000, 1000));
    const auto id = services.models->add(std::move(spec));
    if (!id)
        return fail(id.error());
    return services.models->item(*id);
}

Result<Json> verifyModel(
    const hub::HubSettings& settings, const hub::ModelName& name, bool repair, ThreadJob::Control& control)
{
    const auto cancel = std::make_shared<std::atomic<bool>>(false);
    return verifyModels(
        settings, name, repair,
        [&](std::uint64_t bytes, std::uint64_t total) {
            Job::Progress progress;
            progress.done = static_cast<std::int64_t>(bytes);
            progress.total = static_cast<std::int64_t>(total);
            progress.unit = "bytes";
            control.setProgress(progress);
            *cancel = control.isCancelled();
        },
        cancel);
}

// What a sandbox shows is bound file by file: deleted, it would be gone for whoever opens it next, and free
// nothing before the sandbox ends.
Status checkUnused(const Sandboxes& sandboxes, const std::string& repo)
{
    const auto users = sandboxes.usersOf(repo);
    if (users.empty())
        return {};
    std::string names;
    for (const std::string& name : users)
        names += (names.empty() ? "" : ", ") + name;
    return fail("models.in_use", repo + " is used by " + names + ", which runs; stop it first, or force it",
        Json{{"repo", repo}, {"sandboxes", users}});
}

void bindModelQueries(Binder& binder, const Services& services)
{
    QObject* guard = services.jobs;
    const SecretStore* secrets = services.secrets;
    binder.bind<NoParams>("models.ls", [guard, secrets](NoParams, const std::string&, Reply reply) {
        const hub::HubSettings settings = hubSettingsOf(reply, *secrets);
        answerFromPool(guard, std::move(reply), [settings] { return toAnswer(listModels(settings)); });
    });
    binder.bind<ModelParams>(
        "models.show", [guard, secrets](const ModelParams& params, const std::string&, Reply reply) {
            const auto name = hub::ModelName::parse(params.model);
            if (!name)
                return reply.refuse(name.error());
            const auto cancel = std::make_shared<std::atomic<bool>>(false);
            reply.onCancel([cancel] { *cancel = true; });
            const hub::HubSettings settings = hubSettingsOf(reply, *secrets);
            answerFromPool(guard, std::move(reply),
                [settings, name = *name, cancel] { return toAnswer(showModel(settings, name, cancel)); });
        });
    binder.bind<VerifyModelParams>("models.verify",
        [jobs = services.jobs, secrets](const VerifyModelParams& params, const std::string&, Reply reply) {
            const auto name = hub::ModelName::parse(params.model);
            if (!name)
                return reply.refuse(name.error());
            reply.finish(Result<Json>(
                jobs->start(std::make_unique<ThreadJob>("models.verify", "Verifying " + name->repo,
                    [settings = hubSettingsOf(reply, *secrets), name = *name,
                        repair = params.repair.value_or(false)](ThreadJob::Control& control) {
                        return verifyModel(settings, name, repair, control);
                    }))));
        });
    binder.bind<RemoveModelParams>("models.rm",
        [guard, secrets, sandboxes = services.sandboxes](
            const RemoveModelParams& params, const std::string&, Reply reply) {
            const auto name = hub::ModelName::parse(params.model);
            if (!name)
                return reply.refuse(name.error());
            if (!params.force.value_or(false) && !params.loose.value_or(false)) {
                if (const Status unused = checkUnused(*sandboxes, name->repo); !unused)
                    return reply.refuse(unused.error());
            }
            const hub::HubSettings settings = hubSettingsOf(reply, *secrets);
            const std::string revision = params.all.value_or(false) ? "" : name->revision;
            answerFromPool(guard, std::move(reply),
                [settings, repo = name->repo, revision, loose = params.loose.value_or(false)] {
                    return toAnswer(removeModels(settings, repo, revision, loose));
                });
        });
}

Result<Json> done(const Status& status)
{
    if (!status)
        return fail(status.error());
    return Json::object();
}

} // namespace

void bindModelMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    ModelDownloads* models = services.models;
    bindModelQueries(binder, services);
    binder.bind<GetModelParams>(
        "models.get", [services](const GetModelParams& params, const std::string&, Reply reply) {
            reply.finish(getModel(services, params, reply));
        });
    binder.bind<DownloadParams>("models.pause", [models](const DownloadParams& params) -> Result<Json> {
        if (params.download)
            return done(models->pause(*params.download));
        models->pauseAll();
        return Json::object();
    });
    binder.bind<DownloadParams>("models.resume",
        [models, secrets = services.secrets](const DownloadParams& params, const std::string&, Reply reply) {
            const std::string token = hubSettingsOf(reply, *secrets).token;
            if (params.download)
                return reply.finish(done(models->resume(*params.download, token)));
            models->resumeAll(token);
            reply.finish(Result<Json>(Json::object()));
        });
    binder.bind<OneDownloadParams>("models.forget",
        [models](const OneDownloadParams& params) { return done(models->forget(params.download)); });
    binder.bind<DownloadPriorityParams>(
        "models.prioritise", [models](const DownloadPriorityParams& params) -> Result<Json> {
            return done(models->setPriority(
                params.download, static_cast<int>(std::clamp<std::int64_t>(params.priority, -1000, 1000))));
        });
}

} // namespace gb::service
