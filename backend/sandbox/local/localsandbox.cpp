// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "localsandbox.h"

#include <algorithm>

#include <backend/base/ids.h>

#include "ownpython.h"

namespace gb {
namespace {

constexpr std::int64_t tmpBytes = 1L << 30;
constexpr std::int64_t runBytes = 64L << 20;
constexpr std::int64_t mostProcesses = 4096;

Status checkSupported(const SandboxSpec& spec)
{
    const auto refuse = [](const char* field, const char* what, const char* fix) {
        return fail("spec.invalid", std::string(field) + ": " + what + "; " + fix,
            Json{{"field", field}, {"fix", fix}});
    };
    if (spec.dockerInDocker)
        return refuse("docker_in_docker", "is not offered by the local provider",
            "remove it or use provider = \"modal\"");
    if (!spec.gpu.empty())
        return refuse("gpu", "this provider has no GPU to give", "remove gpu or use provider = \"modal\"");
    if (spec.network.mode == NetworkMode::AllowList)
        return refuse(
            "network", "a list of hosts is not offered by the local provider", "write \"off\" or \"on\"");
    for (const ModelSpec& model : spec.models) {
        if (model.hidden)
            return refuse("models", "hidden models are not offered by the local provider", "remove hidden");
    }
    return {};
}

} // namespace

LocalSandbox::LocalSandbox(const ImageStore& images, StartRequest request)
    : m_images(images), m_request(std::move(request))
{ }

LocalSandbox::~LocalSandbox()
{
    stop();
}

void LocalSandbox::warn(std::string field, std::string message, std::string fix)
{
    m_warnings.push_back(
        {std::move(field), std::move(message), std::move(fix), SpecProblem::Severity::Warning});
}

fs::path LocalSandbox::local(const std::string& path) const
{
    return fs::path(path).is_absolute() ? fs::path(path) : m_request.experimentFolder / path;
}

Result<std::unique_ptr<LocalSandbox>> LocalSandbox::start(
    const ImageStore& images, StartRequest request, const BuildProgress& progress)
{
    if (!isId(request.id))
        return fail("sandbox.id", "a sandbox needs a new id");
    GB_TRY(checkSupported(request.spec));
    GB_TRY(images.prepare());
    std::unique_ptr<LocalSandbox> sandbox(new LocalSandbox(images, std::move(request)));
    Status done = [&]() -> Status {
        auto launch = sandbox->makeLaunchSpec(progress);
        if (!launch)
            return fail(launch.error());
        auto running = launchSandbox(*launch, images.tools(), sandbox->m_request.spoolFolder);
        if (!running)
            return fail(running.error());
        sandbox->m_running = std::move(*running);
        GB_TRY(sandbox->copyIn());
        return sandbox->cloneRepos(progress);
    }();
    if (!done) {
        (void)sandbox->remove();
        return fail(done.error());
    }
    sandbox->watchLimits();
    return sandbox;
}

Result<LaunchSpec> LocalSandbox::makeLaunchSpec(const BuildProgress& progress)
{
    const SandboxSpec& spec = m_request.spec;
    LaunchSpec launch;
    launch.store = m_images.storeFolder();
    launch.processes = mostProcesses;
    launch.fileBytes = spec.disk;
    launch.network = spec.network.mode == NetworkMode::On;
    // They are memory: never more than half of what the sandbox may have.
    const std::int64_t most = spec.memory > 0 ? std::min(tmpBytes, spec.memory / 4) : tmpBytes;
    launch.tmpfs = {{"/tmp", most, 01777}, {"/dev/shm", most, 01777},
        {"/run", std::min(most, runBytes), 0755}, {"/home/box", std::min(most, runBytes), 0755}};
    m_environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/home/box"}, {"LANG", "C.UTF-8"},
        {"LC_ALL", "C.UTF-8"}, {"PYTHONUNBUFFERED", "1"}};
    GB_TRY(spec.interpreter.empty() ? addImage(launch, progress) : addOwnPython(launch));
    if (launch.network) {
        launch.binds.push_back({"/etc/resolv.conf", "/etc/resolv.conf"});
        for (const auto& [name, value] : m_request.build.env)
            m_environment[name] = value;
        launch.binds.insert(launch.binds.end(), m_request.build.binds.begin(), m_request.build.binds.end());
    }
    GB_TRY(addModels(launch));
    GB_TRY(addMounts(launch));
    for (const auto& [name, value] : spec.env)
        m_environment[name] = value;
    for (const std::string& secret : spec.secrets) {
        if (!m_request.secrets.contains(secret))
            warn(
                "secrets", secret + " is not set", "set it in your environment, in .env or in the key store");
    }
    return launch;
}

Status LocalSandbox::addOwnPython(LaunchSpec& launch)
{
    const auto info = askInterpreter(m_request.spec.interpreter);
    if (!info)
        return fail(info.error());
    const fs::path etc = launch.store.parent_path() / "etc";
    GB_TRY(writeSmallEtc(etc, launch.hostname));
    auto binds = ownPythonBinds(*info, etc);
    if (!binds)
        return fail(binds.error());
    launch.binds = std::move(*binds);
    launch.links = ownPythonLinks();
    launch.folders = {box() + "/workspace"};
    launch.binds.push_back({box() + "/workspace", "/workspace", true});
    launch.readOnlyRoot = true;
    m_python = m_request.spec.interpreter;
    m_environment["PATH"] = fs::path(m_python).parent_path().string() + ":" + m_environment["PATH"];
    if (!m_request.spec.pythonPackages.empty())
        warn("python_packages", "are not installed into a Python of this machine",
            "install them there yourself");
    return {};
}

Status LocalSandbox::addImage(LaunchSpec& launch, const BuildProgress& progress)
{
    const auto layers = m_images.plan(m_request.spec);
    if (!layers)
        return fail(layers.error());
    GB_TRY(m_images.build(*layers, m_request.build, progress));
    launch.lowers = ImageStore::lowers(*layers);
    launch.upper = box() + "/upper";
    launch.work = box() + "/work";
    launch.folders = {launch.upper + "/workspace", launch.work};
    const bool hasVenv = layers->back().kind == LayerPlan::Kind::Python;
    m_python = hasVenv ? "/opt/venv/bin/python" : "/usr/bin/python3";
    if (hasVenv) {
        m_environment["PATH"] = "/opt/venv/bin:" + m_environment["PATH"];
        m_environment["VIRTUAL_ENV"] = "/opt/venv";
    }
    return {};
}

Status LocalSandbox::addModels(LaunchSpec& launch)
{
    std::map<std::string, int> shortNames;
    std::map<std::string, fs::path> folders;
    for (const LocalModel& model : m_request.models)
        folders[model.name] = model.folder;
    for (const ModelSpec& model : m_request.spec.models) {
        if (!model.path.empty())
            folders[model.name] = local(model.path);
        if (!folders.contains(model.name))
            return fail("sandbox.model_missing", model.name + " is not on this machine",
                Json{{"field", "models"}, {"model", model.name}});
    }
    const auto shortName = [](const std::string& name) { return name.substr(name.find('/') + 1); };
    for (const auto& [name, folder] : folders)
        ++shortNames[shortName(name)];
    for (const auto& [name, folder] : folders)
        GB_TRY(addModel(launch, name, folder, shortNames[shortName(name)] == 1));
    for (const ModelSpec& model : m_request.spec.models) {
        if (!model.isPeft || folders.contains(model.baseModel))
            continue;
        return fail("sandbox.model_missing", model.baseModel + " is not on this machine",
            Json{{"field", "models"}, {"model", model.baseModel}});
    }
    return {};
}

Status LocalSandbox::addModel(
    LaunchSpec& launch, const std::string& name, const fs::path& folder, bool shortNameIsFree)
{
    std::error_code error;
    if (!fs::is_directory(folder, error))
        return fail("sandbox.model_missing", folder.string() + " is not a folder with a model",
            Json{{"field", "models"}, {"model", name}});
    const std::size_t slash = name.find('/');
    const std::string shortName = slash == std::string::npos ? name : name.substr(slash + 1);
    std::string unique = name;
    std::string volume = name;
    if (slash != std::string::npos) {
        unique.replace(slash, 1, "--");
        volume[slash] = '_';
    }
    const std::string place = "/models/" + unique;
    launch.binds.push_back({folder.string(), place});
    if (shortNameIsFree && shortName != unique)
        launch.links.push_back({place, "/models/" + shortName});
    launch.links.push_back({place, "/volumes/" + volume});
    ModelSpec spelling;
    spelling.name = name;
    m_environment[spelling.variable()] = place;
    m_environment[spelling.originalVariable()] = place;
    return {};
}

Status LocalSandbox::addMounts(LaunchSpec& launch)
{
    for (const auto* mounts : {&m_request.spec.localFiles, &m_request.spec.localDirs}) {
        const bool folders = mounts == &m_request.spec.localDirs;
        for (const MountSpec& mount : *mounts) {
            const fs::path path = local(mount.local);
            std::error_code error;
            if (folders ? !fs::is_directory(path, error) : !fs::is_regular_file(path, error))
                return fail("spec.invalid",
                    path.string() + (folders ? " is not a folder" : " is not a file") + " on this machine",
                    Json{{"field", folders ? "local_dirs" : "local_files"}, {"path", path.string()}});
            if (mount.mode != MountMode::Copy)
                launch.binds.push_back({path.string(), mount.inside, mount.mode == MountMode::Writable});
        }
    }
    return {};
}

ExecSpec LocalSandbox::command(std::vector<std::string> argv) const
{
    ExecSpec spec;
    spec.argv = std::move(argv);
    spec.env = m_environment;
    spec.folder = "/workspace";
    if (!m_request.spec.scoped) {
        for (const std::string& name : m_request.spec.secrets) {
            if (const auto found = m_request.secrets.find(name); found != m_request.secrets.end())
                spec.env[name] = found->second;
        }
    }
    return spec;
}

void LocalSandbox::watchLimits()
{
    const std::int64_t timeout = m_request.spec.timeout.value_or(0);
    if (m_request.spec.memory <= 0 && timeout <= 0)
        return;
    m_watch = std::make_unique<LimitWatch>(
        m_running->init(), m_request.spec.memory, timeout, [this](const std::string& reason) {
            {
                const std::lock_guard lock(m_mutex);
                m_endReason = reason;
            }
            m_running->kill();
        });
}

std::string LocalSandbox::endReason() const
{
    const std::lock_guard lock(m_mutex);
    return m_endReason;
}

void LocalSandbox::stop()
{
    m_watch.reset();
    if (m_running)
        m_running->stop();
    m_running.reset();
}

Status LocalSandbox::remove()
{
    stop();
    const auto removed = runMapped(m_images.storeFolder(),
        {"sh", "-c", "[ ! -e \"$1\" ] || { chmod -R u+rwX \"$1\"; rm -rf \"$1\"; }", "sh", box()},
        m_images.tools());
    if (!removed)
        return fail(removed.error());
    if (removed->code != 0)
        return fail("sandbox.store", "cannot remove what the sandbox wrote: " + removed->output);
    return {};
}

} // namespace gb
