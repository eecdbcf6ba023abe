// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <fcntl.h>

#include <backend/base/ids.h>

#include "dispatcher.h"
#include "sandboxes.h"
#include "sandboxrequest.h"
#include "services.h"

namespace gb::service {
namespace {

constexpr std::int64_t logPieceLimit = 1 << 20;

struct PlanParams
{
    JsonObject spec;
    std::optional<std::string> experiment;
    static auto fields()
    {
        return std::tuple(field("spec", &PlanParams::spec), field("experiment", &PlanParams::experiment));
    }
};

struct StartSandboxParams
{
    JsonObject spec;
    std::optional<std::string> experiment;
    std::optional<bool> trust;
    std::optional<JsonObject> secrets;
    static auto fields()
    {
        return std::tuple(field("spec", &StartSandboxParams::spec),
            field("experiment", &StartSandboxParams::experiment), field("trust", &StartSandboxParams::trust),
            field("secrets", &StartSandboxParams::secrets));
    }
};

struct SandboxParams
{
    std::string sandbox;
    static auto fields() { return std::tuple(field("sandbox", &SandboxParams::sandbox)); }
};

struct SandboxLogParams
{
    std::string sandbox;
    std::optional<std::int64_t> offset;
    std::optional<std::int64_t> limit;
    static auto fields()
    {
        return std::tuple(field("sandbox", &SandboxLogParams::sandbox),
            field("offset", &SandboxLogParams::offset), field("limit", &SandboxLogParams::limit));
    }
};

struct ServeParams
{
    std::string sandbox;
    std::string interface;
    std::optional<std::string> name;
    std::optional<bool> watch;
    std::optional<bool> wait;
    static auto fields()
    {
        return std::tuple(field("sandbox", &ServeParams::sandbox),
            field("interface", &ServeParams::interface), field("name", &ServeParams::name),
            field("watch", &ServeParams::watch), field("wait", &ServeParams::wait));
    }
};

Json reachesJson(const std::vector<Reach>& reaches)
{
    Json all = Json::array();
    for (const Reach& reach : reaches)
        all.push_back(reach.toJson());
    return all;
}

// Which indexes are meant is the person's to say, not the experiment's: it stands in the plan, and what is
// allowed stays allowed when they change.
void nameIndexes(Json& reaches, const std::vector<std::string>& hosts, const SandboxSpec& spec)
{
    std::string all;
    for (const std::string& host : hosts) {
        if (std::ranges::find(spec.network.hosts, host) == spec.network.hosts.end())
            all += (all.empty() ? "" : ", ") + host;
    }
    for (Json& reach : reaches) {
        if (stringOr(reach, "what") == "network" && stringOr(reach, "value") == "package indexes"
            && !all.empty())
            reach["value"] = "package indexes (" + all + ")";
    }
}

Result<Json> planOf(SandboxProvider& provider, const SandboxOrder& order)
{
    auto plan = provider.plan(order.request);
    if (!plan)
        return fail(plan.error());
    Json answer{{"steps", Json::array()}, {"problems", Json::array()},
        {"reaches", reachesJson(order.reaches)}, {"needs_trust", order.needsTrust}};
    for (const PlanStep& step : plan->steps)
        answer["steps"].push_back(step.toJson());
    for (const SpecProblem& problem : plan->problems)
        answer["problems"].push_back(problem.toJson());
    for (const SpecProblem& problem : order.request.spec.problems())
        answer["problems"].push_back(problem.toJson());
    if (!plan->hosts.empty())
        answer["hosts"] = plan->hosts;
    nameIndexes(answer["reaches"], plan->hosts, order.request.spec);
    if (!plan->limits.empty())
        answer["limits"] = plan->limits;
    if (plan->pricePerHour)
        answer["price_per_hour"] = *plan->pricePerHour;
    return answer;
}

// Refused, with all that a person needs to decide.
Result<Json> askForTrust(const std::shared_ptr<SandboxProvider>& provider, const SandboxOrder& order)
{
    const auto plan = provider ? planOf(*provider, order) : Result<Json>(Json::object());
    const Json reaches = plan && plan->contains("reaches") ? (*plan)["reaches"] : reachesJson(order.reaches);
    return fail("experiment.untrusted",
        "this experiment comes from elsewhere and would reach beyond its folder; look at what it reaches "
        "and allow it",
        Json{{"experiment", order.experiment}, {"reaches", reaches}});
}

Result<Json> pieceOfLog(const fs::path& file, const SandboxLogParams& params)
{
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    const off_t size = fd.valid() ? ::lseek(fd.get(), 0, SEEK_END) : 0;
    std::int64_t from = params.offset.value_or(0);
    from = std::clamp<std::int64_t>(from < 0 ? size + from : from, 0, size);
    const std::int64_t limit =
        std::clamp<std::int64_t>(params.limit.value_or(logPieceLimit), 0, logPieceLimit);
    std::string text(static_cast<std::size_t>(std::min<std::int64_t>(limit, size - from)), '\0');
    const ssize_t got = text.empty() ? 0 : ::pread(fd.get(), text.data(), text.size(), from);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return Json{
        {"next", from + static_cast<std::int64_t>(text.size())}, {"size", size}, {"text", std::move(text)}};
}

std::shared_ptr<SandboxProvider> providerFor(
    const Sandboxes* sandboxes, const SandboxOrder& order, Reply& reply)
{
    auto provider = sandboxes->provider(order.request.spec.provider);
    if (!provider)
        reply.refuse(Error{"spec.invalid", "provider: there is no provider " + order.request.spec.provider,
            Json{{"field", "provider"}, {"fix", "write \"local\""}}});
    return provider;
}

void plan(const Services& services, const PlanParams& params, Reply reply)
{
    auto order = makeSandboxOrder(params.spec.json, params.experiment.value_or(std::string()), Json::object(),
        reply.caller(), services.secrets, TrustList(services.dataFolder));
    if (!order)
        return reply.refuse(order.error());
    const auto provider = providerFor(services.sandboxes, *order, reply);
    if (!provider)
        return;
    order->request.id = newId();
    services.sandboxes->work(
        std::move(reply), [provider, order = std::move(*order)] { return planOf(*provider, order); });
}

void start(const Services& services, const StartSandboxParams& params, Reply reply)
{
    const TrustList trust(services.dataFolder);
    auto order = makeSandboxOrder(params.spec.json, params.experiment.value_or(std::string()),
        params.secrets.value_or(JsonObject{}).json, reply.caller(), services.secrets, trust);
    if (!order)
        return reply.refuse(order.error());
    if (order->needsTrust && !params.trust.value_or(false))
        return services.sandboxes->work(std::move(reply),
            [provider = services.sandboxes->provider(order->request.spec.provider),
                order = std::move(*order)] { return askForTrust(provider, order); });
    if (order->needsTrust) {
        if (const Status allowed =
                trust.allow(order->experiment, order->request.experimentFolder, order->reaches);
            !allowed)
            return reply.refuse(allowed.error());
    }
    // The op is the sandbox's id, so that a repeat finds what the first attempt began.
    order->request.id = reply.op();
    reply.finish(services.sandboxes->start(std::move(order->request)));
}

void bindImages(Binder& binder, Sandboxes* sandboxes)
{
    binder.bind<NoParams>("sandboxes.images", [sandboxes](NoParams, const std::string&, Reply reply) {
        sandboxes->work(std::move(reply),
            [providers = sandboxes->providers(), wanted = sandboxes->wanted()]() -> Result<Json> {
                Json all = Json::array();
                for (const auto& provider : providers) {
                    const auto images = provider->images(wanted);
                    if (!images)
                        return fail(images.error());
                    for (const SandboxImage& image : *images)
                        all.push_back(image.toJson());
                }
                return Json{{"images", std::move(all)}};
            });
    });
    binder.bind<NoParams>("sandboxes.collect", [sandboxes](NoParams, const std::string&, Reply reply) {
        sandboxes->work(std::move(reply),
            [providers = sandboxes->providers(), wanted = sandboxes->wanted()]() -> Result<Json> {
                Json removed = Json::array();
                std::int64_t freed = 0;
                for (const auto& provider : providers) {
                    const auto collected = provider->collect(wanted);
                    if (!collected)
                        return fail(collected.error());
                    freed += collected->freed;
                    for (const std::string& key : collected->removed)
                        removed.push_back(key);
                }
                return Json{{"freed", freed}, {"removed", std::move(removed)}};
            });
    });
}

void bindLife(Binder& binder, const Services& services)
{
    Sandboxes* const sandboxes = services.sandboxes;
    binder.bind<NoParams>("sandboxes.list", [sandboxes](NoParams) -> Result<Json> {
        return Json{{"sandboxes", sandboxes->list()}};
    });
    binder.bind<SandboxParams>(
        "sandboxes.get", [sandboxes](const SandboxParams& params) { return sandboxes->get(params.sandbox); });
    binder.bind<SandboxLogParams>(
        "sandboxes.log", [sandboxes](const SandboxLogParams& params) -> Result<Json> {
            const auto record = sandboxes->find(params.sandbox);
            if (!record)
                return fail(record.error());
            return pieceOfLog(sandboxes->folderOf(record->id) / "start.log", params);
        });
    binder.bind<SandboxParams>("sandboxes.stop",
        [sandboxes](const SandboxParams& params) { return sandboxes->stop(params.sandbox); });
    binder.bind<SandboxParams>(
        "sandboxes.rm", [sandboxes](const SandboxParams& params, const std::string&, Reply reply) {
            sandboxes->remove(params.sandbox, std::move(reply));
        });
    binder.bind<ServeParams>(
        "sandboxes.serve", [sandboxes](const ServeParams& params, const std::string&, Reply reply) {
            if (!fs::path(params.interface).is_absolute())
                return reply.refuse(Error{"params.path", "interface must be an absolute path"});
            // The op is the interface's id, so that a repeat finds it.
            ServeOrder order{reply.op(), newId(), params.interface,
                params.name.value_or(fs::path(params.interface).stem().string()),
                params.watch.value_or(false)};
            sandboxes->serve(params.sandbox, std::move(order), params.wait.value_or(true), std::move(reply));
        });
}

} // namespace

void bindSandboxMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    Sandboxes* const sandboxes = services.sandboxes;
    binder.bind<NoParams>("sandboxes.capabilities", [sandboxes](NoParams, const std::string&, Reply reply) {
        const auto environment = reply.caller().environment;
        sandboxes->work(
            std::move(reply), [providers = sandboxes->providers(), environment]() -> Result<Json> {
                Json all = Json::array();
                for (const auto& provider : providers)
                    all.push_back(
                        provider
                            ->capabilities(environment ? *environment : std::map<std::string, std::string>())
                            .toJson());
                return Json{{"providers", std::move(all)}};
            });
    });
    binder.bind<PlanParams>(
        "sandboxes.plan", [services](const PlanParams& params, const std::string&, Reply reply) {
            plan(services, params, std::move(reply));
        });
    binder.bind<StartSandboxParams>(
        "sandboxes.start", [services](const StartSandboxParams& params, const std::string&, Reply reply) {
            start(services, params, std::move(reply));
        });
    bindLife(binder, services);
    bindImages(binder, sandboxes);
}

} // namespace gb::service
