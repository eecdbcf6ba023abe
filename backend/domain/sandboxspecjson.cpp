// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "sandboxspec.h"
#include "specreader.h"

namespace gb {
namespace {

Json modelJson(const ModelSpec& model)
{
    Json json{{"name", model.name}};
    if (model.varName != ModelSpec().varName)
        json["var_name"] = model.varName;
    if (model.hidden)
        json["hidden"] = true;
    if (model.isPeft)
        json["is_peft"] = true;
    if (!model.baseModel.empty())
        json["base_model"] = model.baseModel;
    if (model.loadAsPeft)
        json["load_as_peft"] = true;
    if (!model.path.empty())
        json["path"] = model.path;
    return json;
}

Json repoJson(const RepoSpec& repo)
{
    Json json{{"url", repo.url}};
    if (!repo.dockerfile.empty())
        json["dockerfile"] = repo.dockerfile;
    if (repo.install)
        json["install"] = *repo.install;
    return json;
}

Json mountJson(const MountSpec& mount)
{
    if (mount.mode == MountMode::Copy)
        return Json::array({mount.local, mount.inside});
    return Json{{"local", mount.local}, {"inside", mount.inside},
        {"mode", mount.mode == MountMode::ReadOnly ? "read-only" : "writable"}};
}

Json networkJson(const NetworkSpec& network)
{
    switch (network.mode) {
    case NetworkMode::Off:
        return "off";
    case NetworkMode::On:
        return "on";
    case NetworkMode::AllowList:
        return network.hosts;
    case NetworkMode::Default:
        break;
    }
    return nullptr;
}

Json modeJson(ExecutionMode mode)
{
    if (mode == ExecutionMode::None)
        return "none";
    return mode == ExecutionMode::Cli ? "cli" : "notebook";
}

template <typename T>
Json orNull(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

template <typename T>
Json unlessZero(const T& value)
{
    return value == T() ? Json(nullptr) : Json(value);
}

template <typename List, typename Function>
Json listJson(const List& list, Function toJson)
{
    Json json = Json::array();
    for (const auto& item : list)
        json.push_back(toJson(item));
    return json;
}

using Problems = std::vector<SpecProblem>;

void checkModels(const SandboxSpec& spec, Problems& out)
{
    std::map<std::string, std::string> variables;
    std::map<std::string, std::size_t> names;
    for (std::size_t i = 0; i < spec.models.size(); ++i) {
        const ModelSpec& model = spec.models[i];
        const std::string at = "models[" + std::to_string(i) + "]";
        if (model.isPeft && model.baseModel.empty())
            out.push_back({at + ".base_model", "is missing for the adapter \"" + model.name + "\"",
                "name the model the adapter was made for"});
        if (!model.isPeft && !model.baseModel.empty())
            out.push_back({at + ".base_model", "is set, but \"" + model.name + "\" is not an adapter",
                "set `is_peft`, or remove `base_model`"});
        if (model.isPeft && model.loadAsPeft)
            out.push_back({at + ".load_as_peft", "wraps a base model, and this is an adapter already",
                "remove `load_as_peft` or `is_peft`"});
        const auto [known, fresh] = variables.emplace(model.variable(), model.name);
        if (!fresh && known->second == model.name)
            out.push_back(
                {at + ".name", "\"" + model.name + "\" stands in the list twice", "remove one of them"});
        else if (!fresh)
            out.push_back({at + ".name",
                "\"" + model.name + "\" and \"" + known->second + "\" would both be " + known->first,
                "keep only one of them in a sandbox"});
        if (model.varName != ModelSpec().varName && !names.emplace(model.varName, i).second)
            out.push_back({at + ".var_name", "\"" + model.varName + "\" is used by another model",
                "give each model its own name"});
    }
}

void checkPorts(const SandboxSpec& spec, Problems& out)
{
    std::map<int, const char*> taken;
    const auto check = [&](const char* field, const std::optional<int>& port) {
        if (!port)
            return;
        const auto [known, fresh] = taken.emplace(*port, field);
        if (!fresh)
            out.push_back({field, std::to_string(*port) + " is also `" + known->second + "`",
                "choose another port, or leave one of them out: it is then assigned"});
    };
    check("jupyter_port", spec.jupyterPort);
    check("rpc_port", spec.rpcPort);
    check("debug_port", spec.debugPort);
}

void checkPlaces(const SandboxSpec& spec, Problems& out)
{
    std::map<std::string, std::string> places;
    const auto take = [&](const std::string& place, const std::string& field) {
        const auto [known, fresh] = places.emplace(place, field);
        if (!fresh)
            out.push_back(
                {field, place + " is also filled by `" + known->second + "`", "choose another place"});
    };
    for (std::size_t i = 0; i < spec.localFiles.size(); ++i)
        take(spec.localFiles[i].inside, "local_files[" + std::to_string(i) + "]");
    for (std::size_t i = 0; i < spec.localDirs.size(); ++i)
        take(spec.localDirs[i].inside, "local_dirs[" + std::to_string(i) + "]");
    for (std::size_t i = 0; i < spec.repos.size(); ++i)
        take("/workspace/" + spec.repos[i].folderName(), "repos[" + std::to_string(i) + "]");
}

void checkTogether(const SandboxSpec& spec, Problems& out)
{
    for (const std::string& secret : spec.secrets) {
        if (spec.env.contains(secret))
            out.push_back({"env." + secret, "is also listed as a secret", "keep it in one place"});
    }
    if (!spec.interpreter.empty() && !spec.systemPackages.empty())
        out.push_back({"system_packages", "cannot be added to a Python of this machine",
            "clear `interpreter`, or install the packages on this machine"});
    if (spec.scoped && spec.network.mode != NetworkMode::Default && spec.network.mode != NetworkMode::Off)
        out.push_back(
            {"network", "a scoped sandbox has no network", "turn `network` off, or set no `scoped`"});
    if (spec.timeout && spec.idleTimeout && *spec.idleTimeout > *spec.timeout)
        out.push_back({"idle_timeout", "is longer than `timeout` and would never act",
            "give at most " + secondsText(*spec.timeout)});
    if (spec.gpu.empty() && spec.gpuCount > 1)
        out.push_back({"gpu_count", "is set without a GPU type", "fill in `gpu`, or remove `gpu_count`"});
    if (!spec.interpreter.empty() && spec.provider != "local")
        out.push_back(
            {"interpreter", "exists on this machine only", "choose \"local\" as `provider`, or remove it"});
}

} // namespace

Json SpecProblem::toJson() const
{
    return Json{{"field", field}, {"message", message}, {"fix", fix},
        {"severity", severity == Severity::Error ? "error" : "warning"}};
}

std::vector<std::string> SandboxSpec::defaultNotebookPackages()
{
    return {"jupyter_server", "ipykernel", "jupyter", "jupyter_client", "nbformat", "tornado", "fastmcp",
        "Pillow", "requests", "torch", "transformers", "accelerate", "pandas", "matplotlib", "numpy",
        "seaborn", "datasets"};
}

const std::vector<SpecField>& sandboxSpecFields()
{
    static const std::vector<SpecField> fields{{"name", "string"}, {"provider", "string"},
        {"scoped", "boolean"}, {"python_version", "string"}, {"interpreter", "string"},
        {"python_packages", "strings"}, {"system_packages", "strings"}, {"notebook_packages", "strings"},
        {"gpu", "string"}, {"gpu_count", "integer"}, {"cpu", "number"}, {"memory", "bytes"},
        {"disk", "bytes"}, {"timeout", "seconds"}, {"idle_timeout", "seconds"}, {"spend_cap", "number"},
        {"docker_in_docker", "boolean"}, {"execution_mode", "mode"}, {"debug", "boolean"},
        {"secrets", "strings"}, {"env", "map"}, {"tags", "map"}, {"network", "network"},
        {"encrypted_ports", "ports"}, {"jupyter_port", "port"}, {"rpc_port", "port"}, {"debug_port", "port"},
        {"rpc_timeout", "seconds"}, {"wait_timeout", "seconds"}, {"models", "models"}, {"repos", "repos"},
        {"local_files", "mounts"}, {"local_dirs", "mounts"}};
    return fields;
}

Json SandboxSpec::toJson() const
{
    Json json{{"name", unlessZero(name)}, {"provider", provider}, {"scoped", scoped},
        {"python_version", pythonVersion}, {"interpreter", unlessZero(interpreter)},
        {"python_packages", pythonPackages}, {"system_packages", systemPackages},
        {"notebook_packages", notebookPackages}, {"gpu", unlessZero(gpu)}, {"gpu_count", gpuCount},
        {"cpu", unlessZero(cpu)}, {"memory", unlessZero(memory)}, {"disk", unlessZero(disk)},
        {"timeout", orNull(timeout)}, {"idle_timeout", orNull(idleTimeout)},
        {"spend_cap", unlessZero(spendCap)}, {"docker_in_docker", dockerInDocker},
        {"execution_mode", modeJson(executionMode)}, {"debug", debug}, {"secrets", secrets},
        {"env", Json::object()}, {"tags", Json::object()}, {"network", networkJson(network)},
        {"encrypted_ports", encryptedPorts}, {"jupyter_port", orNull(jupyterPort)},
        {"rpc_port", orNull(rpcPort)}, {"debug_port", orNull(debugPort)}, {"rpc_timeout", rpcTimeout},
        {"wait_timeout", waitTimeout}, {"models", listJson(models, modelJson)},
        {"repos", listJson(repos, repoJson)}, {"local_files", listJson(localFiles, mountJson)},
        {"local_dirs", listJson(localDirs, mountJson)}};
    for (const auto& [key, value] : env)
        json["env"][key] = value;
    for (const auto& [key, value] : tags)
        json["tags"][key] = value;
    for (const auto& [key, value] : unknown.items())
        json[key] = value;
    return json;
}

std::vector<SpecProblem> SandboxSpec::problems() const
{
    Problems out;
    checkModels(*this, out);
    checkPorts(*this, out);
    checkPlaces(*this, out);
    checkTogether(*this, out);
    for (std::size_t i = 0; i < models.size(); ++i) {
        if (models[i].hidden && executionMode == ExecutionMode::Notebook && !scoped)
            out.push_back({"models[" + std::to_string(i) + "].hidden",
                "code in this sandbox can still see the model's architecture",
                "use a scoped sandbox to hide more", SpecProblem::Severity::Warning});
    }
    return out;
}

} // namespace gb
