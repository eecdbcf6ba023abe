// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "localrecipe.h"

#include <algorithm>
#include <array>
#include <tuple>

#include <rpc/launch/processorchoice.h>

#include "hiddenmodels.h"
#include "ownpython.h"

namespace gb {
namespace {

constexpr std::int64_t tmpBytes = 1L << 30;
constexpr std::int64_t runBytes = 64L << 20;

Status checkSupported(const SandboxSpec& spec)
{
    const auto refuse = [](const char* field, const char* what, const char* fix) {
        return fail("spec.invalid", std::string(field) + ": " + what + "; " + fix,
            Json{{"field", field}, {"fix", fix}});
    };
    if (spec.dockerInDocker)
        return refuse("docker_in_docker", "is not offered by the local provider",
            "remove it or use provider = \"modal\"");
    return {};
}

// Enough for one pool of threads or another on each processor; a fork bomb of more would starve everything
// beside it, process 1 too.
std::int64_t mostProcesses()
{
    constexpr std::int64_t least = 1'024;
    constexpr std::int64_t most = 16'384;
    constexpr std::int64_t each = 64;
    return std::clamp(static_cast<std::int64_t>(processorsHere().size()) * each, least, most);
}

bool isProxyVariable(std::string name)
{
    std::ranges::transform(name, name.begin(),
        [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return name == "HTTP_PROXY" || name == "HTTPS_PROXY" || name == "ALL_PROXY" || name == "NO_PROXY";
}

std::string shortModelName(const std::string& name)
{
    return name.substr(name.find('/') + 1);
}

std::string modelPlace(std::string name)
{
    if (const std::size_t slash = name.find('/'); slash != std::string::npos)
        name.replace(slash, 1, "--");
    return "/models/" + name;
}

// Each model and each base it needs has to be there, from whichever place, or come before the start.
Status checkModels(const StartRequest& request)
{
    const auto isHere = [&](const std::string& name) {
        const auto called = [&](const auto& model) { return model.name == name; };
        return request.toFetch.contains(name) || std::ranges::any_of(request.models, called)
            || std::ranges::any_of(request.modelFiles, called)
            || std::ranges::any_of(request.spec.models,
                [&](const ModelSpec& model) { return model.name == name && !model.path.empty(); });
    };
    for (const ModelSpec& model : request.spec.models) {
        for (const std::string& name : {model.name, model.isPeft ? model.baseModel : std::string()}) {
            if (!name.empty() && !isHere(name))
                return fail("sandbox.model_missing",
                    name + " is not on this machine; fetch it with \"glovebox models get " + name
                        + "\", or name a folder as path",
                    Json{{"field", "models"}, {"model", name}});
        }
    }
    return {};
}

Status checkMounts(const StartRequest& request)
{
    for (const auto* mounts : {&request.spec.localFiles, &request.spec.localDirs}) {
        const bool folders = mounts == &request.spec.localDirs;
        for (const MountSpec& mount : *mounts) {
            const fs::path path = request.local(mount.local);
            std::error_code error;
            if (folders ? !fs::is_directory(path, error) : !fs::is_regular_file(path, error))
                return fail("spec.invalid",
                    path.string() + (folders ? " is not a folder" : " is not a file") + " on this machine",
                    Json{{"field", folders ? "local_dirs" : "local_files"}, {"path", path.string()}});
        }
    }
    return {};
}

} // namespace

Status LocalRecipe::check(const SandboxSpec& spec)
{
    return checkSupported(spec);
}

void LocalRecipe::warn(std::string field, std::string message, std::string fix)
{
    warnings.push_back(
        {std::move(field), std::move(message), std::move(fix), SpecProblem::Severity::Warning});
}

Result<LaunchSpec> LocalRecipe::make(const BuildProgress& progress)
{
    GB_TRY(checkInputs(m_request));
    const SandboxSpec& spec = m_request.spec;
    LaunchSpec launch;
    launch.store = m_images.storeFolder();
    launch.processes = mostProcesses();
    launch.fileBytes = spec.disk;
    launch.network = spec.network.mode == NetworkMode::On;
    // They are memory: never more than half of what the sandbox may have.
    const std::int64_t most = spec.memory > 0 ? std::min(tmpBytes, spec.memory / 4) : tmpBytes;
    launch.tmpfs = {{"/tmp", most, 01777}, {"/dev/shm", most, 01777},
        {"/run", std::min(most, runBytes), 0755}, {"/home/box", std::min(most, runBytes), 0755}};
    environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/home/box"}, {"LANG", "C.UTF-8"},
        {"LC_ALL", "C.UTF-8"}, {"PYTHONUNBUFFERED", "1"}};
    GB_TRY(spec.interpreter.empty() ? addImage(launch, progress) : addOwnPython(launch));
    addNetwork(launch);
    addGpu(launch);
    GB_TRY(addModels(launch));
    addMounts(launch);
    launch.binds.insert(launch.binds.end(), m_request.binds.begin(), m_request.binds.end());
    for (const auto& [name, value] : spec.env)
        environment[name] = value;
    for (const std::string& secret : spec.secrets) {
        if (!m_request.secrets.contains(secret))
            warn(
                "secrets", secret + " is not set", "set it in your environment, in .env or in the key store");
    }
    for (const RepoSpec& repo : spec.repos) {
        if (!repo.dockerfile.empty())
            warn("repos", repo.dockerfile + " of " + repo.url + " is not built on this machine",
                "name what it installs as system_packages, python_packages or the repo's install command");
    }
    return launch;
}

// A list of hosts is the keeper's to keep; what is said here makes programs find packages.
void LocalRecipe::addNetwork(LaunchSpec& launch)
{
    if (!launch.network && !m_request.network)
        return;
    if (launch.network)
        launch.binds.push_back({"/etc/resolv.conf", "/etc/resolv.conf"});
    for (const auto* settings : {&m_request.build.env, &m_request.pip}) {
        for (const auto& [name, value] : *settings) {
            // With a list the way out is the keeper's; theirs is asked by the keeper.
            if (launch.network || !isProxyVariable(name))
                environment[name] = value;
        }
    }
    launch.binds.insert(launch.binds.end(), m_request.build.binds.begin(), m_request.build.binds.end());
}

// With the system's own folders its driver is there already, and the linker knows it.
void LocalRecipe::addGpu(LaunchSpec& launch)
{
    if (!m_request.gpu)
        return;
    const GpuShare& gpu = *m_request.gpu;
    launch.binds.insert(launch.binds.end(), gpu.devices.begin(), gpu.devices.end());
    for (const auto& [name, value] : gpu.environment)
        environment[name] = value;
    if (!m_request.spec.interpreter.empty())
        return;
    launch.binds.insert(launch.binds.end(), gpu.files.begin(), gpu.files.end());
    launch.links.insert(launch.links.end(), gpu.links.begin(), gpu.links.end());
    for (const std::string& folder : gpu.libraryFolders) {
        std::string& path = environment["LD_LIBRARY_PATH"];
        path += (path.empty() ? "" : ":") + folder;
    }
}

Status LocalRecipe::addOwnPython(LaunchSpec& launch)
{
    const auto info = askInterpreter(m_request.spec.interpreter);
    if (!info)
        return fail(info.error());
    const fs::path etc = launch.store.parent_path() / "etc";
    GB_TRY(writeSmallEtc(etc, launch.hostname));
    auto binds = ownPythonBinds(*info, etc);
    if (!binds)
        return fail(binds.error());
    const auto inside = pythonInside(*info, *binds);
    if (!inside)
        return fail(inside.error());
    launch.binds = std::move(*binds);
    launch.links = ownPythonLinks();
    launch.folders = {box() + "/workspace"};
    launch.binds.push_back({box() + "/workspace", "/workspace", true});
    launch.readOnlyRoot = true;
    python = *inside;
    environment["PATH"] = fs::path(python).parent_path().string() + ":" + environment["PATH"];
    if (!m_request.spec.pythonPackages.empty())
        warn("python_packages", "are not installed into a Python of this machine",
            "install them there yourself");
    return {};
}

Status LocalRecipe::addImage(LaunchSpec& launch, const BuildProgress& progress)
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
    python = hasVenv ? "/opt/venv/bin/python" : "/usr/bin/python3";
    if (hasVenv) {
        environment["PATH"] = "/opt/venv/bin:" + environment["PATH"];
        environment["VIRTUAL_ENV"] = "/opt/venv";
    }
    return addPip(launch, hasVenv);
}

// An image has pip only as the archive from which environments get theirs; it runs from there, so that no
// layer has to carry it and "pip install" inside needs no preparation.
Status LocalRecipe::addPip(LaunchSpec& launch, bool hasVenv)
{
    const fs::path folder = launch.store.parent_path() / "etc";
    constexpr unsigned readable = 0644;
    constexpr unsigned executable = 0755;
    static constexpr std::array files{
        std::tuple{"pip", "#!/bin/sh\nexec python3 -m pip \"$@\"\n", executable},
        std::tuple{"pip.pth",
            "import os, sys; sys.path.extend(map('/usr/share/python-wheels/'.__add__, filter(lambda n: "
            "n.startswith('pip-'), os.listdir('/usr/share/python-wheels') if "
            "os.path.isdir('/usr/share/python-wheels') else ())))\n",
            readable}};
    GB_TRY(writeSmallEtc(folder, launch.hostname));
    for (const auto& [name, text, mode] : files) {
        if (readFile(folder / name).value_or("") != text)
            GB_TRY(writeFileAtomic(folder / name, text, mode));
    }
    const std::string packages = hasVenv
        ? "/opt/venv/lib/python" + m_request.spec.pythonVersion + "/site-packages"
        : "/usr/lib/python3/dist-packages";
    launch.binds.push_back({(folder / "pip.pth").string(), packages + "/glovebox-pip.pth"});
    for (const char* name : {"/usr/local/bin/pip", "/usr/local/bin/pip3"})
        launch.binds.push_back({(folder / "pip").string(), name});
    if (!hasVenv)
        environment["PIP_BREAK_SYSTEM_PACKAGES"] = "1"; // a sandbox's system is its own to break
    return {};
}

Status LocalRecipe::addModels(LaunchSpec& launch)
{
    std::map<std::string, fs::path> folders;
    for (const LocalModel& model : m_request.models)
        folders[model.name] = model.folder;
    for (const ModelSpec& model : m_request.spec.models) {
        if (!model.path.empty())
            folders[model.name] = m_request.local(model.path);
    }
    m_aliases = hiddenAliases(m_request.spec);
    const auto count = [this](const std::string& name) {
        if (!m_aliases.contains(name))
            ++m_shortNames[shortModelName(name)];
    };
    for (const auto& [name, folder] : folders)
        count(name);
    for (const ModelFiles& model : m_request.modelFiles) {
        if (!folders.contains(model.name))
            count(model.name);
    }
    for (const auto& [name, folder] : folders)
        GB_TRY(m_aliases.contains(name) ? addHidden(launch, name, filesIn(folder))
                                        : addModel(launch, name, folder));
    for (const ModelFiles& model : m_request.modelFiles) {
        if (folders.contains(model.name))
            continue;
        if (m_aliases.contains(model.name))
            GB_TRY(addHidden(launch, model.name, model.files));
        else
            addModelFiles(launch, model);
    }
    return {};
}

// The sources of binds show in /proc/self/mountinfo, so these lie under neutral names out here as well.
Status LocalRecipe::addHidden(
    LaunchSpec& launch, const std::string& name, const std::vector<ModelSource::File>& files)
{
    const std::string& alias = m_aliases.at(name);
    std::string base;
    for (const ModelSpec& model : m_request.spec.models) {
        if (model.name == name && model.isPeft)
            base = modelPlace(
                m_aliases.contains(model.baseModel) ? m_aliases.at(model.baseModel) : model.baseModel);
    }
    const fs::path folder = m_request.hiddenFolder / alias;
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    GB_TRY(makeNeutralFolder(files, concealerOf(m_aliases), base, folder));
    launch.binds.push_back({folder.string(), modelPlace(alias)});
    addModelNames(launch, alias);
    return {};
}

Status LocalRecipe::addModel(LaunchSpec& launch, const std::string& name, const fs::path& folder)
{
    std::error_code error;
    if (!fs::is_directory(folder, error))
        return fail("sandbox.model_missing", folder.string() + " is not a folder with a model",
            Json{{"field", "models"}, {"model", name}});
    launch.binds.push_back({folder.string(), modelPlace(name)});
    addModelNames(launch, name);
    return {};
}

// A snapshot of the hub's cache is made of links that lead out of it.
void LocalRecipe::addModelFiles(LaunchSpec& launch, const ModelFiles& model)
{
    for (const ModelSource::File& file : model.files)
        launch.binds.push_back({file.source.string(), modelPlace(model.name) + "/" + file.path});
    addModelNames(launch, model.name);
}

void LocalRecipe::addModelNames(LaunchSpec& launch, const std::string& name)
{
    const std::string place = modelPlace(name);
    const std::string shortName = shortModelName(name);
    std::string volume = name;
    std::ranges::replace(volume, '/', '_');
    if (m_shortNames[shortName] == 1 && "/models/" + shortName != place)
        launch.links.push_back({place, "/models/" + shortName});
    launch.links.push_back({place, "/volumes/" + volume});
    ModelSpec spelling;
    spelling.name = name;
    environment[spelling.variable()] = place;
    environment[spelling.originalVariable()] = place;
}

Status LocalRecipe::checkInputs(const StartRequest& request)
{
    if (!request.spec.gpu.empty() && !request.gpu)
        return fail("spec.invalid", "gpu: there is no GPU to give; remove gpu",
            Json{{"field", "gpu"}, {"fix", "remove gpu"}});
    if (!request.spec.interpreter.empty())
        GB_TRY(checkOwnPython(request.spec.interpreter));
    GB_TRY(checkModels(request));
    return checkMounts(request);
}

std::string LocalRecipe::placeOf(const std::string& model)
{
    return modelPlace(model);
}

void LocalRecipe::addMounts(LaunchSpec& launch)
{
    for (const auto* mounts : {&m_request.spec.localFiles, &m_request.spec.localDirs}) {
        for (const MountSpec& mount : *mounts) {
            if (mount.mode != MountMode::Copy)
                launch.binds.push_back(
                    {m_request.local(mount.local).string(), mount.inside, mount.mode == MountMode::Writable});
        }
    }
}

} // namespace gb
