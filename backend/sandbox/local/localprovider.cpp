// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// What the local provider offers and plans, and how its sandboxes end; localcreation.cpp makes them.

#include "localprovider.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <sstream>

#include <unistd.h>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/log.h>
#include <backend/base/paths.h>
#include <backend/sandbox/boxclient.h>

#include "hoststart.h"
#include "isolationproof.h"
#include "limitshere.h"
#include "localmodels.h"
#include "ownpython.h"
#include "strays.h"

namespace gb {
namespace {

constexpr std::size_t mostInterpreters = 8;
constexpr std::int64_t stopTimeoutMs = 5'000;
constexpr std::int64_t killTimeoutMs = 3'000;

std::vector<std::string> interpreterCandidates(const std::map<std::string, std::string>& environment)
{
    std::vector<std::string> found;
    const auto add = [&](const fs::path& path) {
        if (::access(path.c_str(), X_OK) == 0 && std::ranges::find(found, path.string()) == found.end())
            found.push_back(path.string());
    };
    // What the person has activated comes first.
    for (const char* active : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        if (const auto prefix = environment.find(active);
            prefix != environment.end() && prefix->second.starts_with('/'))
            add(fs::path(prefix->second) / "bin/python3");
    }
    const auto path = environment.find("PATH");
    std::istringstream folders(path == environment.end() ? "/usr/local/bin:/usr/bin" : path->second);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (folder.starts_with('/'))
            add(fs::path(folder) / "python3");
    }
    add("/usr/bin/python3");
    if (found.size() > mostInterpreters)
        found.resize(mostInterpreters);
    return found;
}

// What is here to choose from; without any the fields say why.
void offerGpus(SandboxCapabilities& can)
{
    const GpusHere here = findGpus();
    for (const GpuDevice& device : here.devices) {
        if (std::ranges::find(can.gpus, device.model) == can.gpus.end())
            can.gpus.push_back(device.model.empty() ? "any" : device.model);
    }
    if (!can.gpus.empty())
        return;
    for (const char* field : {"gpu", "gpu_count"})
        can.fields[field] = {FieldCapability::State::Disabled,
            here.trouble.empty() ? "this machine has no GPU to give" : here.trouble};
}

bool isInFolder(const std::string& path, const fs::path& folder)
{
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    const fs::path home = fs::weakly_canonical(folder, error);
    const auto [end, unused] = std::mismatch(home.begin(), home.end(), real.begin(), real.end());
    return !path.empty() && !folder.empty() && end == home.end();
}

// A start takes a fraction of a second, also on a busy machine.
constexpr std::chrono::seconds strayAge{20};

// An error's message is whole in itself, "FIELD: what is wrong; the fix"; a problem has them apart.
SpecProblem problemFrom(const Error& error)
{
    SpecProblem problem{stringOr(error.data, "field"), error.message, stringOr(error.data, "fix"),
        SpecProblem::Severity::Error};
    if (!problem.field.empty() && problem.message.starts_with(problem.field + ": "))
        problem.message.erase(0, problem.field.size() + 2);
    if (!problem.fix.empty() && problem.message.ends_with("; " + problem.fix))
        problem.message.erase(problem.message.size() - problem.fix.size() - 2);
    return problem;
}

// The keeper that the record names, if that process is still it.
bool isKeeper(pid_t pid)
{
    const auto line = pid > 1 ? readFile(fs::path("/proc") / std::to_string(pid) / "cmdline")
                              : Result<std::string>(std::string());
    return line && line->find("glovebox-host") != std::string::npos;
}

bool waitUntilGone(pid_t pid, std::int64_t timeoutMs)
{
    constexpr std::int64_t lookMs = 20;
    for (std::int64_t waited = 0; waited < timeoutMs; waited += lookMs) {
        if (::kill(pid, 0) != 0 && errno == ESRCH)
            return true;
        ::usleep(lookMs * 1000);
    }
    return false;
}

} // namespace

LocalProvider::LocalProvider(Options options)
    : m_options(std::move(options)), m_images(m_options.dataFolder / "images", m_options.tools),
      m_times(m_options.dataFolder / "images" / "times.json")
{ }

SandboxCapabilities LocalProvider::capabilities(const std::map<std::string, std::string>& environment)
{
    using State = FieldCapability::State;
    SandboxCapabilities can;
    can.id = id();
    can.title = "This machine";
    if (const Status proven = proveIsolation(); !proven) {
        can.available = false;
        can.reason = proven.error().message;
    }
    can.network = {"off", "hosts", "on"};
    can.fields = {
        {"docker_in_docker", {State::Disabled, "the local provider does not offer Docker"}},
        {"spend_cap", {State::Hidden, ""}},
    };
    can.limits = limitsHere();
    can.pythonVersions = ImageStore::pythonVersions();
    can.fields.merge(limitCapabilities());
    offerGpus(can);
    for (const std::string& path : interpreterCandidates(environment)) {
        const auto info = askInterpreter(path);
        if (!info)
            continue;
        // A version manager's python3 is a script that finds the real one outside of what a sandbox sees.
        std::error_code error;
        const bool isScript = fs::canonical(path, error).string() != info->executable;
        const std::string real = isScript ? info->executable : path;
        if (std::ranges::find(can.interpreters, real, &InterpreterChoice::path) == can.interpreters.end())
            can.interpreters.push_back({real, info->version});
    }
    if (m_options.models)
        can.models = m_options.models->list(environment);
    return can;
}

Result<StartRequest> LocalProvider::startRequest(const SandboxRequest& request) const
{
    GB_TRY(LocalRecipe::check(request.spec));
    StartRequest start;
    if (!request.spec.gpu.empty()) {
        auto gpu = chooseGpus(findGpus(), request.spec, request.environment);
        if (!gpu)
            return fail(gpu.error());
        start.gpu = std::move(*gpu);
    }
    start.id = request.id;
    start.spec = request.spec;
    start.experimentFolder = request.experimentFolder;
    start.secrets = request.secrets;
    start.hiddenFolder = boxFolder(request.id) / "models";
    start.binds = {{m_options.workerPackage.string(), "/run/glovebox/worker/glovebox_worker"}};
    start.network = planNetwork(request.spec, request.environment);
    const bool hasNetwork = start.network || request.spec.network.mode == NetworkMode::On;
    if (request.spec.interpreter.empty())
        start.build = readBuildSettings(request.environment);
    else if (hasNetwork || !request.spec.repos.empty())
        start.build = readPackageSettings(request.environment);
    if (hasNetwork)
        start.pip = pipEnvironment(request.environment);
    std::set<std::string> needed;
    for (const ModelSpec& model : request.spec.models) {
        if (model.path.empty())
            needed.insert(model.name);
        if (model.isPeft && !model.baseModel.empty())
            needed.insert(model.baseModel);
    }
    start.environment = request.environment;
    for (const std::string& name : needed)
        GB_TRY(addModelFiles(start, name));
    return start;
}

Result<std::vector<PlanStep>> LocalProvider::stepsOf(const StartRequest& request) const
{
    const SandboxSpec& spec = request.spec;
    std::vector<PlanStep> steps{{"isolation", "Prove the isolation", "isolation", m_isProven, {}, {}}};
    for (const ModelSpec& model : spec.models)
        steps.push_back(modelStep(request, model));
    if (!spec.interpreter.empty()) {
        steps.push_back(
            {"interpreter", "Use " + spec.interpreter, "layer", true, std::nullopt, std::nullopt});
    } else {
        const auto layers = m_images.plan(spec);
        if (!layers)
            return fail(layers.error());
        const auto built = m_images.list();
        for (const LayerPlan& layer : *layers) {
            PlanStep step{"layer:" + layer.key, layer.title, "layer", layer.present, {}, {}};
            for (const LayerRecord& record : built) {
                if (record.key == layer.key)
                    step.bytes = record.bytes;
            }
            steps.push_back(std::move(step));
        }
    }
    steps.push_back({"start", "Start the sandbox", "start", false, {}, {}});
    for (const auto* mounts : {&spec.localFiles, &spec.localDirs}) {
        for (const MountSpec& mount : *mounts) {
            if (mount.mode == MountMode::Copy)
                steps.push_back({"copy:" + mount.inside, "Copy " + mount.local, "copy", false,
                    bytesIn(request.local(mount.local)), {}});
        }
    }
    for (const RepoSpec& repo : spec.repos)
        steps.push_back({"repo:" + repo.url, "Clone " + repo.url, "repo", false, {}, {}});
    return steps;
}

Result<SandboxPlan> LocalProvider::plan(const SandboxRequest& request)
{
    SandboxPlan plan;
    auto start = startRequest(request);
    auto steps = start ? stepsOf(*start) : Result<std::vector<PlanStep>>(fail(start.error()));
    if (!steps) {
        plan.problems.push_back(problemFrom(steps.error()));
        return plan;
    }
    plan.steps = std::move(*steps);
    m_times.fill(plan.steps);
    planLimits(start->spec, plan);
    for (const Obstacle& obstacle : lookUpModels(*start, plan.steps)) {
        plan.problems.push_back(problemFrom(obstacle.error));
        const auto& models = start->spec.models;
        for (std::size_t i = 0; i < models.size(); ++i) {
            if ("model:" + models[i].name == obstacle.step)
                plan.problems.back().field = "models[" + std::to_string(i) + "].name";
        }
    }
    if (start->network) {
        for (const NetworkPlace& place : start->network->places)
            plan.hosts.push_back(place.text());
        if (const std::string refused = stringOr(start->network->upstream, "refused"); !refused.empty())
            plan.problems.push_back(
                {"network", refused, "set network to \"off\", or start it with the variable changed",
                    SpecProblem::Severity::Warning});
    }
    if (const Status proven = proveIsolation(); !proven)
        plan.problems.push_back(problemFrom(proven.error()));
    // The very checks of a start, without building anything. A plan is what a person looks at before trusting
    // an experiment, so nothing that came with it is run for it.
    if (isInFolder(start->spec.interpreter, start->experimentFolder))
        start->spec.interpreter.clear();
    if (const Status possible = LocalRecipe::checkInputs(*start); !possible)
        plan.problems.push_back(problemFrom(possible.error()));
    for (const std::string& secret : request.spec.secrets) {
        if (!request.secrets.contains(secret))
            plan.problems.push_back({"secrets", secret + " is not set",
                "set it in your environment, in .env or in the key store", SpecProblem::Severity::Warning});
    }
    return plan;
}

void LocalProvider::prepare()
{
    if (const Status proven = proveIsolation(); !proven)
        logWarning("local", "no sandbox can start here: " + proven.error().message);
    // Asking pip where it looks takes longer than starting a sandbox.
    (void)packageIndexes({});
}

Status LocalProvider::proveIsolation()
{
    const std::lock_guard lock(m_proofMutex);
    const std::string here = kernelHere() + "\n" + bwrapHere();
    if (m_isProven && m_provenFor == here)
        return {};
    m_isProven = false;
    GB_TRY(m_images.prepare());
    const auto begin = monotonicNs();
    const IsolationProof proof =
        tryIsolation(m_options.dataFolder / "isolation", m_images.storeFolder(), m_options.tools);
    const Json json = proof.toJson();
    logInfo("local", "tried the isolation",
        {{"passed", proof.isPassed()}, {"ms", (monotonicNs() - begin) / 1'000'000}});
    // For doctor; a disk that is full is not a reason to start nothing.
    if (const Status kept =
            writeFileAtomic(m_options.dataFolder / "isolation.json", json.dump(1) + "\n", 0600);
        !kept)
        logWarning("local", kept.error().message);
    if (!proof.isPassed())
        return fail("sandbox.not_isolated",
            "sandboxes on this machine are not proved to be isolated: " + proof.failure, json);
    m_provenFor = here;
    m_isProven = true;
    return {};
}

Result<fs::path> LocalProvider::controlOf(const std::string& id) const
{
    const auto sockets = socketFolder(m_options.dataFolder);
    if (!sockets)
        return fail(sockets.error());
    return *sockets / (id + ".box");
}

Result<fs::path> LocalProvider::control(const SandboxRecord& record)
{
    return controlOf(record.id);
}

Status LocalProvider::terminate(const SandboxRecord& record)
{
    const auto socket = controlOf(record.id);
    if (!socket)
        return fail(socket.error());
    auto keeper = BoxClient::connect(*socket);
    const auto known = static_cast<pid_t>(integerOr(record.handle, "pid"));
    if (!keeper) {
        // Nobody takes orders; one that hangs, or ends at this moment, is still a process.
        if (!isKeeper(known) || waitUntilGone(known, killTimeoutMs / 3))
            return {};
        ::kill(known, SIGKILL);
        return waitUntilGone(known, killTimeoutMs)
            ? Status()
            : fail("sandbox.not_stopped", "the keeper of the sandbox does not end", Json{{"pid", known}});
    }
    if (const Status greeted = keeper->greet(record.id, record.nonce); greeted)
        (void)keeper->request("box.stop", Json::object(), {}, stopTimeoutMs);
    else if (greeted.error().code == "sandbox.other")
        return greeted;
    if (keeper->waitForEnd(stopTimeoutMs))
        return {};
    const auto pid = keeper->peer();
    if (pid && isKeeper(*pid))
        ::kill(*pid, SIGKILL);
    if (keeper->waitForEnd(killTimeoutMs))
        return {};
    return fail(
        "sandbox.not_stopped", "the keeper of the sandbox does not end", Json{{"pid", pid.value_or(0)}});
}

Status LocalProvider::removeWritten(const std::string& id) const
{
    std::error_code error;
    if (!isId(id) || !fs::exists(m_images.storeFolder(), error))
        return {};
    const auto removed = runMapped(m_images.storeFolder(),
        {"sh", "-c", "[ ! -e \"$1\" ] || { chmod -R u+rwX \"$1\"; rm -rf \"$1\"; }", "sh", "boxes/" + id},
        m_images.tools());
    if (!removed)
        return fail(removed.error());
    if (removed->code != 0)
        return fail("sandbox.store", "cannot remove what the sandbox wrote: " + removed->output);
    return {};
}

Status LocalProvider::remove(const SandboxRecord& record)
{
    return removeWritten(record.id);
}

// The sockets tell who lives, the tags whose they are.
Result<std::vector<FoundSandbox>> LocalProvider::list()
{
    endStrays(strayAge);
    const auto sockets = socketFolder(m_options.dataFolder);
    if (!sockets)
        return fail(sockets.error());
    std::vector<FoundSandbox> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(*sockets, error)) {
        const std::string id = entry.path().stem().string();
        if (entry.path().extension() != ".box" || !isId(id))
            continue;
        const auto keeper = BoxClient::connect(entry.path());
        // Nobody listens, or the name is gone by now. Anything else may hide one that lives.
        const auto reason = keeper ? 0 : integerOr(keeper.error().data, "errno");
        if (reason != 0 && reason != ECONNREFUSED && reason != ENOENT)
            return fail(keeper.error());
        if (!keeper)
            continue;
        const auto tag = parseJson(readFile(boxFolder(id) / "box.json").value_or("{}"));
        const auto pid = keeper->peer();
        found.push_back({id, tag ? stringOr(*tag, "nonce") : std::string(),
            Json{{"control", entry.path().string()}, {"pid", pid.value_or(0)}}});
    }
    if (error)
        return failErrno("cannot look into", sockets->string(), error.value());
    return found;
}

Result<fs::path> LocalProvider::serve(
    const SandboxRecord& record, const ServeOrder& order, const std::function<bool()>& isCancelled)
{
    const auto socket = controlOf(record.id);
    if (!socket)
        return fail(socket.error());
    const Json config{{"id", order.id}, {"run", order.run}, {"name", order.name},
        {"interface", order.interface.string()}, {"data_folder", m_options.dataFolder.string()},
        {"watch", order.watch}, {"detached", true}, {"models", record.handle.value("models", Json::array())},
        {"conceal", record.handle.value("conceal", Json::array())},
        {"worker_via",
            {{"control", socket->string()}, {"python", stringOr(record.handle, "python", "python3")}}}};
    const auto answer = startHost(
        m_options.host, config, boxFolder(record.id) / ("interface-" + order.id + ".log"), isCancelled);
    if (!answer)
        return fail(answer.error());
    return fs::path(stringOr(*answer, "control"));
}

std::vector<std::string> LocalProvider::keysOf(const std::vector<SandboxRecord>& records) const
{
    std::vector<std::string> keys;
    for (const SandboxRecord& record : records) {
        if (record.spec.provider != id() || !record.spec.interpreter.empty())
            continue;
        if (const auto layers = m_images.plan(record.spec)) {
            for (const LayerPlan& layer : *layers)
                keys.push_back(layer.key);
        }
    }
    return keys;
}

Result<std::vector<SandboxImage>> LocalProvider::images(const std::vector<SandboxRecord>& wanted)
{
    const auto keys = keysOf(wanted);
    std::vector<SandboxImage> all;
    for (const LayerRecord& record : m_images.list())
        all.push_back({record.key, record.title, record.packages, record.bytes, record.builtAt, record.usedAt,
            std::ranges::find(keys, record.key) != keys.end()});
    return all;
}

Result<CollectedImages> LocalProvider::collect(const std::vector<SandboxRecord>& wanted)
{
    std::map<std::string, std::int64_t> sizes;
    for (const LayerRecord& record : m_images.list())
        sizes[record.key] = record.bytes;
    if (sizes.empty())
        return CollectedImages{};
    auto removed = m_images.collect(keysOf(wanted));
    if (!removed)
        return fail(removed.error());
    CollectedImages collected;
    for (const std::string& key : *removed)
        collected.freed += sizes[key];
    collected.removed = std::move(*removed);
    return collected;
}

} // namespace gb
