// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <thread>
#include <utility>

#include <backend/base/clock.h>
#include <backend/sandbox/boxclient.h>

#include "hiddenmodels.h"
#include "hoststart.h"
#include "localcontents.h"
#include "localmodels.h"
#include "localprovider.h"

namespace gb {
namespace {

// A sandbox that its keeper holds.
class KeptInside final : public SandboxInside
{
public:
    explicit KeptInside(BoxClient& keeper) : m_keeper(keeper) { }

    Status putFile(const fs::path& local, const std::string& inside, unsigned mode) override
    {
        return m_keeper.request("box.put", Json{{"path", inside}, {"mode", mode}, {"file", local.string()}})
            .map([](auto&&) {});
    }
    Status putFolder(const fs::path& folder, const std::string& inside) override
    {
        return m_keeper.request("box.put_folder", Json{{"folder", folder.string()}, {"path", inside}})
            .map([](auto&&) {});
    }
    Result<Outcome> run(const std::string& script, const std::string& folder,
        const std::function<void(std::string_view)>& onOutput) override
    {
        auto ended = m_keeper.run(script, folder, onOutput);
        if (!ended)
            return fail(ended.error());
        return Outcome{ended->code, std::move(ended->errors)};
    }

private:
    BoxClient& m_keeper;
};

// Downloads that are asked for before it is their turn to be waited for, so that they come side by side. They
// are let go when it ends, which by then have ended themselves or are wanted no more.
class AskedAhead
{
public:
    AskedAhead(ModelSource* models, const std::map<std::string, std::string>& environment)
        : m_models(models), m_environment(environment)
    { }

    void ask(const std::string& name)
    {
        m_threads.emplace_back([this, name](const std::stop_token& stop) {
            // Whoever waits for it in its turn asks again, and hears what went wrong.
            (void)m_models->fetch(
                name, m_environment, [](const ModelProgress&) {}, [&stop] { return stop.stop_requested(); });
        });
    }

private:
    ModelSource* m_models;
    const std::map<std::string, std::string>& m_environment;
    std::vector<std::jthread> m_threads;
};

// One that died without a word has said why in its log.
Error withLog(Error error, const fs::path& log)
{
    constexpr std::size_t shown = 2000;
    const std::string text = readFile(log).value_or("");
    if (error.code == "sandbox.keeper_failed")
        error.data["log"] = text.size() > shown ? text.substr(text.size() - shown) : text;
    return error;
}

} // namespace

// One creation, step by step.
class LocalProvider::Creation
{
public:
    Creation(
        LocalProvider& provider, const SandboxRequest& request, StartRequest start, ProvisionWatch& watch)
        : m_provider(provider), m_request(request), m_start(std::move(start)), m_watch(watch),
          m_recipe(provider.m_images, m_start)
    { }

    Result<CreatedSandbox> run()
    {
        auto steps = m_provider.stepsOf(m_start);
        if (!steps)
            return fail(steps.error());
        m_steps = std::move(*steps);
        const auto obstacles = m_provider.lookUpModels(m_start, m_steps);
        m_watch.onPlan(m_steps);
        Status done = [&]() -> Status {
            GB_TRY(begin("isolation"));
            GB_TRY(m_provider.proveIsolation());
            GB_TRY(LocalRecipe::checkInputs(m_start));
            // What cannot come is said before anything is waited for.
            if (!obstacles.empty()) {
                GB_TRY(begin(obstacles.front().step));
                return fail(obstacles.front().error);
            }
            GB_TRY(fetchModels());
            auto launch = makeLaunchSpec();
            if (!launch)
                return fail(launch.error());
            GB_TRY(begin("start"));
            GB_TRY(launchKeeper(*launch));
            GB_TRY(fill());
            keepTime();
            return {};
        }();
        if (!done) {
            SandboxRecord failed;
            failed.id = m_request.id;
            failed.nonce = m_request.nonce;
            failed.handle = m_handle;
            (void)m_provider.terminate(failed);
            (void)m_provider.removeWritten(m_request.id);
            return fail(m_watch.isCancelled() ? Error{"cancelled", "cancelled"} : done.error());
        }
        return CreatedSandbox{m_handle, m_recipe.warnings};
    }

private:
    Status begin(const std::string& id)
    {
        if (m_watch.isCancelled())
            return fail("cancelled", "cancelled");
        keepTime();
        for (std::size_t i = 0; i < m_steps.size(); ++i) {
            if (m_steps[i].id != id)
                continue;
            m_watch.onStep(m_steps[i], i);
            m_current = m_steps[i];
            m_since = monotonicNs();
        }
        return {};
    }

    // Of the step that has just come to its end. How long a model takes says nothing about the next time.
    void keepTime()
    {
        constexpr double nsPerSecond = 1e9;
        const auto done = std::exchange(m_current, std::nullopt);
        if (!done || done->reused || done->kind == "model")
            return;
        PlanStep step = *done;
        for (const LayerRecord& layer : m_provider.m_images.list()) {
            if ("layer:" + layer.key == step.id)
                step.bytes = layer.bytes;
        }
        m_provider.m_times.keep(step, static_cast<double>(monotonicNs() - m_since) / nsPerSecond);
    }

    BuildProgress progress()
    {
        BuildProgress progress;
        progress.onLayer = [this](const LayerPlan& layer, std::size_t, std::size_t) {
            (void)begin("layer:" + layer.key);
        };
        progress.onOutput = [this](std::string_view text) { m_watch.onOutput(text); };
        progress.isCancelled = [this] { return m_watch.isCancelled(); };
        return progress;
    }

    Result<LaunchSpec> makeLaunchSpec()
    {
        GB_TRY(m_provider.m_images.prepare());
        if (!m_start.spec.interpreter.empty())
            GB_TRY(begin("interpreter"));
        return m_recipe.make(progress());
    }

    // Before the layers: what is refused is refused soon.
    Status fetchModels()
    {
        AskedAhead ahead(m_provider.m_options.models.get(), m_start.environment);
        if (m_start.toFetch.size() > 1) {
            for (const std::string& name : standalone())
                ahead.ask(name);
        }
        for (const ModelSpec& model : m_start.spec.models) {
            GB_TRY(begin("model:" + model.name));
            for (const std::string& name : modelsToFetch(m_start, model))
                GB_TRY(fetchModel(name));
        }
        return {};
    }

    // Missing models that come with no other one: a base comes with its adapter.
    std::vector<std::string> standalone() const
    {
        std::set<std::string> paired;
        for (const ModelSpec& model : m_start.spec.models) {
            if (model.isPeft)
                paired.insert({model.name, model.baseModel});
        }
        std::vector<std::string> names;
        for (const ModelSpec& model : m_start.spec.models) {
            if (m_start.toFetch.contains(model.name) && !paired.contains(model.name))
                names.push_back(model.name);
        }
        return names;
    }

    Status fetchModel(const std::string& name)
    {
        // It may have come with an adapter meanwhile.
        GB_TRY(m_provider.addModelFiles(m_start, name));
        if (!m_start.toFetch.contains(name))
            return {};
        GB_TRY(m_provider.m_options.models->fetch(
            name, m_start.environment, [this](const ModelProgress& now) { m_watch.onModel(now); },
            [this] { return m_watch.isCancelled(); }));
        GB_TRY(m_provider.addModelFiles(m_start, name));
        if (m_start.toFetch.contains(name))
            return fail("sandbox.model_missing", name + " was fetched and is not in the cache",
                Json{{"field", "models"}, {"model", name}});
        return {};
    }

    Status launchKeeper(const LaunchSpec& launch)
    {
        const SandboxSpec& spec = m_start.spec;
        const fs::path folder = m_provider.boxFolder(m_request.id);
        GB_TRY(ensurePrivateDir(folder.parent_path()));
        GB_TRY(ensurePrivateDir(folder));
        constexpr unsigned onlyOurs = 0600;
        GB_TRY(writeFileAtomic(
            folder / "box.json", Json{{"id", m_request.id}, {"nonce", m_request.nonce}}.dump(), onlyOurs));
        Json sandbox{{"id", m_request.id}, {"nonce", m_request.nonce}, {"name", spec.name},
            {"data_folder", m_provider.m_options.dataFolder.string()}, {"launch", launch.toJson()},
            {"environment", m_recipe.environment}, {"secrets", m_start.secrets},
            {"secrets_in_exec", !spec.scoped}, {"memory", spec.memory}, {"cpu", spec.cpu},
            {"disk", spec.disk}, {"timeout", spec.timeout.value_or(0)},
            {"idle_timeout", spec.idleTimeout.value_or(0)}, {"box_folder", "boxes/" + m_request.id},
            {"python", m_recipe.python}};
        if (m_start.network)
            sandbox["network"] = m_start.network->toJson();
        const auto answer =
            startHost(m_provider.m_options.host, Json{{"sandbox", sandbox}, {"detached", true}},
                folder / "keeper.log", [this] { return m_watch.isCancelled(); });
        if (!answer)
            return fail(withLog(answer.error(), folder / "keeper.log"));
        m_handle = Json{{"control", stringOr(*answer, "control")}, {"pid", integerOr(*answer, "pid")},
            {"python", m_recipe.python}};
        describeModels();
        return {};
    }

    // For interfaces that are served here. Where an agent runs code, a worker does not know a hidden name
    // either.
    void describeModels()
    {
        const auto aliases = hiddenAliases(m_start.spec);
        m_handle["models"] = Json::array();
        m_handle["conceal"] = Json::array();
        for (const auto& [name, alias] : aliases)
            m_handle["conceal"].push_back({{"name", name}, {"alias", alias}});
        for (const ModelSpec& model : m_start.spec.models) {
            const auto hidden = aliases.find(model.name);
            if (hidden == aliases.end()) {
                m_handle["models"].push_back(
                    {{"id", model.name}, {"path", LocalRecipe::placeOf(model.name)}});
                continue;
            }
            Json one{{"id", m_start.spec.scoped ? model.name : hidden->second},
                {"path", LocalRecipe::placeOf(hidden->second)}};
            if (m_start.spec.scoped)
                one.update({{"hidden", true}, {"alias", hidden->second}});
            m_handle["models"].push_back(std::move(one));
        }
    }

    Status fill()
    {
        const auto control = m_provider.controlOf(m_request.id);
        if (!control)
            return fail(control.error());
        auto keeper = BoxClient::connect(*control, [this] { return m_watch.isCancelled(); });
        if (!keeper)
            return fail(keeper.error());
        GB_TRY(keeper->greet(m_request.id, m_request.nonce));
        KeptInside inside(*keeper);
        for (const auto* mounts : {&m_start.spec.localFiles, &m_start.spec.localDirs}) {
            for (const MountSpec& mount : *mounts) {
                if (mount.mode != MountMode::Copy)
                    continue;
                GB_TRY(begin("copy:" + mount.inside));
                GB_TRY(copyIn(inside, m_start, mount, mounts == &m_start.spec.localDirs));
            }
        }
        const BuildProgress progress = this->progress();
        for (const RepoSpec& repo : m_start.spec.repos) {
            GB_TRY(begin("repo:" + repo.url));
            auto warning = bringRepo(inside, m_provider.m_images, m_start, repo, progress);
            if (!warning)
                return fail(warning.error());
            if (*warning)
                m_recipe.warnings.push_back(std::move(**warning));
        }
        return {};
    }

    LocalProvider& m_provider;
    const SandboxRequest& m_request;
    StartRequest m_start;
    ProvisionWatch& m_watch;
    LocalRecipe m_recipe;
    std::vector<PlanStep> m_steps;
    std::optional<PlanStep> m_current;
    std::int64_t m_since = 0;
    Json m_handle = Json::object();
};

Result<CreatedSandbox> LocalProvider::create(const SandboxRequest& request, ProvisionWatch& watch)
{
    auto start = startRequest(request);
    if (!start)
        return fail(start.error());
    return Creation(*this, request, std::move(*start), watch).run();
}

} // namespace gb
