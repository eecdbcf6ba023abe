// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxspec.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "specreader.h"

namespace gb {
namespace {

constexpr std::int64_t longestSeconds = 30L * 24 * 3600;
constexpr std::int64_t smallestMemory = 64L << 20;
constexpr std::int64_t smallestDisk = 16L << 20;

constexpr const char* networkHelp = "write \"off\", \"on\", or a list of hosts like [\"data.example.org\"]";

void readModel(const Json& json, const std::string& where, SandboxSpec& spec, std::vector<SpecProblem>& out)
{
    ModelSpec model;
    if (json.is_string()) {
        model.name = json.get<std::string>();
        if (auto bad = rules::modelName(model.name))
            out.push_back({where, bad->message, bad->fix});
    } else {
        SpecReader reader(json, where, out);
        reader.text("name", model.name, rules::modelName);
        reader.text("var_name", model.varName, rules::pythonIdentifier);
        reader.flag("hidden", model.hidden);
        reader.flag("is_peft", model.isPeft);
        reader.text("base_model", model.baseModel, rules::modelName);
        reader.flag("load_as_peft", model.loadAsPeft);
        reader.text("path", model.path, rules::localPath);
        static const std::vector<SpecField> known{{"name", ""}, {"var_name", ""}, {"hidden", ""},
            {"is_peft", ""}, {"base_model", ""}, {"load_as_peft", ""}, {"path", ""}};
        reader.leftOver(known);
        if (json.is_object() && model.name.empty() && !reader.find("name"))
            reader.complain(reader.path("name"), "is missing", "name the model, like \"google/gemma-2-9b\"");
    }
    spec.models.push_back(std::move(model));
}

void readRepo(const Json& json, const std::string& where, SandboxSpec& spec, std::vector<SpecProblem>& out)
{
    RepoSpec repo;
    if (json.is_string()) {
        repo.url = json.get<std::string>();
        if (auto bad = rules::repoUrl(repo.url))
            out.push_back({where, bad->message, bad->fix});
    } else {
        SpecReader reader(json, where, out);
        reader.text("url", repo.url, rules::repoUrl);
        reader.text("dockerfile", repo.dockerfile, rules::localPath);
        if (const Json* install = reader.find("install")) {
            if (install->is_string() && !install->get<std::string>().empty())
                repo.install = install->get<std::string>();
            else if (!install->is_boolean() || install->get<bool>())
                reader.complain(reader.path("install"), "must be false or a command",
                    "write the command, like \"pip install -e .\"");
        }
        static const std::vector<SpecField> known{{"url", ""}, {"dockerfile", ""}, {"install", ""}};
        reader.leftOver(known);
        if (json.is_object() && repo.url.empty() && !reader.find("url"))
            reader.complain(reader.path("url"), "is missing", "name the repository, like \"org/repo\"");
    }
    spec.repos.push_back(std::move(repo));
}

void readMount(
    const Json& json, const std::string& where, std::vector<MountSpec>& mounts, std::vector<SpecProblem>& out)
{
    MountSpec mount;
    Json object = json;
    if (json.is_array()) {
        if (json.size() != 2 || !json[0].is_string() || !json[1].is_string()) {
            out.push_back({where, "must be a pair", "write [\"local path\", \"/path/in/the/sandbox\"]"});
            return;
        }
        object = Json{{"local", json[0]}, {"inside", json[1]}};
    }
    SpecReader reader(object, where, out);
    std::string mode = "copy";
    reader.text("local", mount.local, rules::localPath);
    reader.text("inside", mount.inside, rules::insidePath);
    reader.text("mode", mode, rules::plainText);
    if (mode == "read-only")
        mount.mode = MountMode::ReadOnly;
    else if (mode == "writable")
        mount.mode = MountMode::Writable;
    else if (mode != "copy")
        reader.complain(reader.path("mode"), "\"" + mode + "\" is not a way to give a file",
            "write \"copy\", \"read-only\" or \"writable\"");
    if (object.is_object() && (!object.contains("local") || !object.contains("inside")))
        reader.complain(
            where, "needs both local and inside", "write [\"local path\", \"/path/in/the/sandbox\"]");
    mounts.push_back(std::move(mount));
}

void readNetwork(SpecReader& reader, NetworkSpec& network)
{
    const Json* value = reader.find("network");
    if (!value)
        return;
    const std::string word = value->is_string() ? value->get<std::string>() : "";
    if (value->is_array()) {
        network.mode = NetworkMode::AllowList;
        reader.texts("network", network.hosts, rules::hostPattern);
        if (network.hosts.empty())
            reader.complain("network", "the list of hosts is empty", networkHelp);
    } else if (word == "off") {
        network.mode = NetworkMode::Off;
    } else if (word == "on") {
        network.mode = NetworkMode::On;
    } else if (word != "default") {
        reader.complain("network", "is neither a mode nor a list of hosts", networkHelp);
    }
}

void readExecutionMode(SpecReader& reader, const Json& json, ExecutionMode& mode)
{
    const Json* value = reader.find("execution_mode");
    if (json.is_object() && json.contains("execution_mode") && json["execution_mode"].is_null())
        mode = ExecutionMode::None;
    if (!value)
        return;
    const std::string word = value->is_string() ? value->get<std::string>() : "";
    if (word == "cli")
        mode = ExecutionMode::Cli;
    else if (word == "notebook")
        mode = ExecutionMode::Notebook;
    else if (word == "none")
        mode = ExecutionMode::None;
    else
        reader.complain("execution_mode", "is not a mode", "write \"cli\", \"notebook\" or \"none\"");
}

void readPorts(SpecReader& reader, SandboxSpec& spec)
{
    reader.port("jupyter_port", spec.jupyterPort);
    reader.port("rpc_port", spec.rpcPort);
    reader.port("debug_port", spec.debugPort);
    if (!reader.find("encrypted_ports"))
        return;
    spec.encryptedPorts.clear();
    reader.each("encrypted_ports", [&](const Json& item, const std::string& where) {
        constexpr std::int64_t highest = 65535;
        const std::int64_t port = item.is_number_integer() ? item.get<std::int64_t>() : 0;
        if (port < 1 || port > highest)
            return reader.complain(where, item.dump() + " is not a port", "give a number from 1 to 65535");
        if (std::count(spec.encryptedPorts.begin(), spec.encryptedPorts.end(), port) > 0)
            return reader.complain(where, item.dump() + " stands in the list twice", "remove one of them");
        spec.encryptedPorts.push_back(static_cast<int>(port));
    });
}

void readResources(SpecReader& reader, SandboxSpec& spec)
{
    std::int64_t gpuCount = spec.gpuCount;
    reader.text("gpu", spec.gpu, rules::gpuName);
    reader.whole("gpu_count", gpuCount, 1, 16, "a number of GPUs");
    spec.gpuCount = static_cast<int>(std::clamp<std::int64_t>(gpuCount, 0, 16));
    reader.number("cpu", spec.cpu, 0, 512, "a number of processors");
    reader.bytes("memory", spec.memory, smallestMemory);
    reader.bytes("disk", spec.disk, smallestDisk);
    reader.seconds("timeout", spec.timeout, longestSeconds);
    reader.seconds("idle_timeout", spec.idleTimeout, longestSeconds);
    reader.seconds("rpc_timeout", spec.rpcTimeout, longestSeconds);
    reader.seconds("wait_timeout", spec.waitTimeout, longestSeconds);
    reader.number("spend_cap", spec.spendCap, 0, 1e6, "US dollars");
}

void readPackages(SpecReader& reader, SandboxSpec& spec)
{
    reader.text("python_version", spec.pythonVersion, rules::pythonVersion);
    reader.text("interpreter", spec.interpreter, rules::interpreter);
    reader.texts("python_packages", spec.pythonPackages, rules::requirement);
    reader.texts("system_packages", spec.systemPackages, rules::systemPackage);
    reader.texts("notebook_packages", spec.notebookPackages, rules::requirement);
}

void readContents(SpecReader& reader, SandboxSpec& spec, std::vector<SpecProblem>& problems)
{
    reader.texts("secrets", spec.secrets, rules::secretName);
    reader.textMap("env", spec.env, rules::variableName);
    reader.textMap("tags", spec.tags, rules::sandboxName);
    reader.each("models", [&](const Json& j, const std::string& at) { readModel(j, at, spec, problems); });
    reader.each("repos", [&](const Json& j, const std::string& at) { readRepo(j, at, spec, problems); });
    reader.each("local_files",
        [&](const Json& j, const std::string& at) { readMount(j, at, spec.localFiles, problems); });
    reader.each("local_dirs",
        [&](const Json& j, const std::string& at) { readMount(j, at, spec.localDirs, problems); });
}

} // namespace

Result<SandboxSpec> SandboxSpec::fromJson(const Json& json)
{
    std::vector<SpecProblem> problems;
    SandboxSpec spec;
    SpecReader reader(json, "", problems);
    reader.text("name", spec.name, rules::sandboxName);
    reader.text("provider", spec.provider, rules::provider);
    reader.flag("scoped", spec.scoped);
    reader.flag("docker_in_docker", spec.dockerInDocker);
    reader.flag("debug", spec.debug);
    readPackages(reader, spec);
    readResources(reader, spec);
    readExecutionMode(reader, json, spec.executionMode);
    readContents(reader, spec, problems);
    readNetwork(reader, spec.network);
    readPorts(reader, spec);
    spec.unknown = reader.leftOver(sandboxSpecFields());
    for (SpecProblem& problem : spec.problems())
        problems.push_back(std::move(problem));

    const auto wrong = std::find_if(problems.begin(), problems.end(),
        [](const SpecProblem& p) { return p.severity == SpecProblem::Severity::Error; });
    if (wrong == problems.end())
        return spec;
    Json list = Json::array();
    for (const SpecProblem& problem : problems)
        list.push_back(problem.toJson());
    return fail("spec.invalid", wrong->field + ": " + wrong->message + "; " + wrong->fix,
        Json{{"field", wrong->field}, {"fix", wrong->fix}, {"problems", std::move(list)}});
}

Result<std::int64_t> parseBytes(std::string_view text)
{
    std::size_t used = 0;
    while (used < text.size() && (std::isdigit(static_cast<unsigned char>(text[used])) || text[used] == '.'))
        ++used;
    std::size_t unitAt = used;
    while (unitAt < text.size() && text[unitAt] == ' ')
        ++unitAt;
    std::string unit(text.substr(unitAt));
    std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
    static const std::map<std::string, double, std::less<>> units{{"", 1}, {"b", 1}, {"k", 1024.0},
        {"kb", 1e3}, {"kib", 1024.0}, {"m", 1048576.0}, {"mb", 1e6}, {"mib", 1048576.0}, {"g", 1073741824.0},
        {"gb", 1e9}, {"gib", 1073741824.0}, {"t", 1099511627776.0}, {"tb", 1e12}, {"tib", 1099511627776.0}};
    const auto factor = units.find(unit);
    const Json number = Json::parse(text.substr(0, used), nullptr, false);
    if (factor == units.end() || !number.is_number())
        return fail("spec.bytes", "\"" + std::string(text.substr(0, 40)) + "\" is not a size like \"8 GiB\"");
    const double bytes = number.get<double>() * factor->second;
    constexpr double largest = 1e18;
    if (bytes > largest)
        return fail("spec.bytes", "\"" + std::string(text.substr(0, 40)) + "\" is too large");
    return static_cast<std::int64_t>(std::llround(bytes));
}

std::string ModelSpec::variable() const
{
    std::string id = name;
    std::transform(id.begin(), id.end(), id.begin(),
        [](unsigned char c) { return std::isalnum(c) ? static_cast<char>(std::toupper(c)) : '_'; });
    return "MODEL_" + id + "_PATH";
}

std::string ModelSpec::originalVariable() const
{
    std::string id = name;
    std::transform(id.begin(), id.end(), id.begin(),
        [](unsigned char c) { return c == '/' || c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
    return "MODEL_" + id + "_PATH";
}

std::string RepoSpec::folderName() const
{
    std::string text = url;
    while (text.ends_with('/'))
        text.pop_back();
    if (text.ends_with(".git"))
        text.resize(text.size() - 4);
    return text.substr(text.find_last_of("/:") + 1);
}

} // namespace gb
