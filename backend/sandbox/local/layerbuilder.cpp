// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "layerbuilder.h"

#include <algorithm>
#include <array>
#include <csignal>

#include <unistd.h>

#include "hostcommand.h"
#include "torchbuild.h"

namespace gb {
namespace {

constexpr const char* uvVersion = "0.13.8";
constexpr const char* uvInside = "/run/glovebox/uv";
constexpr std::size_t keptOfFailure = 4000;

// What dpkg and maintainer scripts need, and nothing that reaches beyond the user namespace.
const std::vector<std::string> buildCapabilities{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID",
    "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETFCAP", "CAP_KILL", "CAP_NET_BIND_SERVICE",
    "CAP_SYS_CHROOT"};

std::string tail(const std::string& text)
{
    return text.size() > keptOfFailure ? text.substr(text.size() - keptOfFailure) : text;
}

// That uv refused because a package comes only as source.
bool wantsBuild(const std::string& said)
{
    return std::ranges::any_of(std::array{"--no-build", "no usable wheels", "no wheels",
                                   "building source distributions", "Building source distributions"},
        [&](const char* sign) { return said.find(sign) != std::string::npos; });
}

// The machine's own package sources serve when it is of the same suite; otherwise mmdebstrap knows a mirror.
std::vector<std::string> sourcesFor(const std::string& suite)
{
    const std::string release = readFile("/etc/os-release").value_or("");
    std::vector<std::string> sources;
    if (release.find("VERSION_CODENAME=" + suite) == std::string::npos
        || release.find("ID=debian") == std::string::npos)
        return sources;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/etc/apt/sources.list.d", error)) {
        const std::string text = readFile(entry.path()).value_or("");
        const bool debian = text.find("debian-archive-keyring") != std::string::npos
            || text.find("/debian") != std::string::npos;
        if (entry.path().extension() == ".sources" && debian)
            sources.push_back(entry.path().string());
    }
    if (sources.empty() && readFile("/etc/apt/sources.list").value_or("").find("deb ") != std::string::npos)
        sources.emplace_back("/etc/apt/sources.list");
    return sources;
}

} // namespace

LayerBuilder::LayerBuilder(
    fs::path store, LaunchTools tools, const BuildSettings& settings, const BuildProgress& progress)
    : m_store(std::move(store)), m_tools(std::move(tools)), m_settings(settings), m_progress(progress)
{ }

void LayerBuilder::say(std::string_view text) const
{
    if (m_progress.onOutput)
        m_progress.onOutput(text);
}

Status LayerBuilder::buildBase(const LayerPlan& layer, const std::string& target)
{
    std::vector<std::string> command;
    if (!m_settings.baseArchive.empty() && ::access((m_store / m_settings.baseArchive).c_str(), R_OK) == 0) {
        command = {"tar", "--numeric-owner", "--exclude=./dev/*", "-xpf", m_settings.baseArchive.string(),
            "-C", target};
    } else {
        command = {"mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory",
            "--include=python3,python3-venv,ca-certificates,git,procps", "--skip=check/empty",
            "--aptopt=APT::Install-Recommends \"false\"", "--aptopt=APT::Sandbox::User \"root\""};
        for (const std::string& option : m_settings.aptOptions)
            command.push_back("--aptopt=" + option);
        for (const char* left : {"man", "locale", "doc", "info"})
            command.push_back("--dpkgopt=path-exclude=/usr/share/" + std::string(left) + "/*");
        command.push_back(layer.suite);
        command.push_back(target);
        for (const std::string& source : sourcesFor(layer.suite))
            command.push_back(source);
    }
    std::map<std::string, std::string> env = environmentHere(m_settings);
    env["HOME"] = "/nonexistent";
    env["TMPDIR"] = "/tmp";
    const auto made = runMapped(m_store, command, m_tools, env, m_progress.onOutput, m_progress.isCancelled);
    if (!made)
        return fail(made.error());
    if (made->code != 0)
        return fail("sandbox.base_failed", "the base image could not be made: " + tail(made->output),
            Json{{"suite", layer.suite}, {"output", tail(made->output)}});
    return {};
}

LaunchSpec LayerBuilder::buildSpec(const std::vector<std::string>& lowers) const
{
    LaunchSpec spec;
    spec.store = m_store;
    spec.lowers = lowers;
    spec.network = true;
    spec.capabilities = buildCapabilities;
    spec.hostname = "build";
    spec.processes = 0; // a build may use the machine; its time is bounded by whoever cancels it
    constexpr std::int64_t small = 64L << 20;
    constexpr std::int64_t large = 4L << 30;
    spec.tmpfs = {{"/tmp", large, 01777}, {"/run", small, 0755}};
    spec.binds = m_settings.binds;
    std::error_code error;
    if (fs::exists("/etc/resolv.conf", error))
        spec.binds.push_back({"/etc/resolv.conf", "/etc/resolv.conf"});
    return spec;
}

std::map<std::string, std::string> LayerBuilder::buildEnvironment() const
{
    std::map<std::string, std::string> env = m_settings.env;
    env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    env["HOME"] = "/tmp/home";
    env["LC_ALL"] = "C.UTF-8";
    env["DEBIAN_FRONTEND"] = "noninteractive";
    return env;
}

Status LayerBuilder::runStep(InitClient& init, std::vector<std::string> argv,
    const std::map<std::string, std::string>& env, const char* code)
{
    ExecSpec exec;
    exec.argv = std::move(argv);
    exec.env = env;
    exec.onOutput = [this](std::string_view, std::string_view bytes) { say(bytes); };
    auto running = init.start(exec);
    if (!running)
        return fail(running.error());
    constexpr std::int64_t lookMs = 100;
    std::optional<Result<ExecRecord>> outcome;
    while (!(outcome = (*running)->wait(lookMs))) {
        if (m_progress.isCancelled && m_progress.isCancelled())
            (void)(*running)->signal(SIGKILL);
    }
    if (!*outcome)
        return fail(outcome->error());
    if (m_progress.isCancelled && m_progress.isCancelled())
        return fail("cancelled", "the build was cancelled");
    const std::string said = tail((*outcome)->output + (*outcome)->errors);
    if ((*outcome)->code != 0)
        return fail(
            code, exec.argv.front() + " failed: " + said, Json{{"output", said}, {"exit", (*outcome)->code}});
    return {};
}

Status LayerBuilder::buildSystem(
    const LayerPlan& layer, const std::string& target, const std::vector<std::string>& lowers)
{
    LaunchSpec spec = buildSpec(lowers);
    spec.upper = target;
    spec.work = target + ".work";
    spec.folders = {
        spec.work, "images/cache/apt/archives/partial", "images/cache/apt/lists/" + layer.suite + "/partial"};
    spec.binds.push_back({"images/cache/apt/archives", "/var/cache/apt/archives", true});
    spec.binds.push_back({"images/cache/apt/lists/" + layer.suite, "/var/lib/apt/lists", true});
    auto sandbox = launchSandbox(spec, m_tools);
    if (!sandbox)
        return fail(sandbox.error());
    InitClient& init = (*sandbox)->init();
    std::string options = "APT::Keep-Downloaded-Packages \"true\";\nAPT::Install-Recommends \"false\";\n"
                          "APT::Sandbox::User \"root\";\n";
    for (const std::string& option : m_settings.aptOptions)
        options += option + "\n";
    GB_TRY(init.putBytes(options, "/run/glovebox/apt.conf"));
    // Services must not start in a build.
    constexpr unsigned executable = 0755;
    GB_TRY(init.putBytes("#!/bin/sh\nexit 101\n", "/usr/sbin/policy-rc.d", executable));
    auto env = buildEnvironment();
    env["APT_CONFIG"] = "/run/glovebox/apt.conf";
    std::vector<std::string> install{"apt-get", "install", "-y", "--no-install-recommends", "--"};
    install.insert(install.end(), layer.packages.begin(), layer.packages.end());
    // Lists of an earlier build serve; when they are too old to be served by the mirror, they are fetched
    // again.
    const auto known = init.list("/var/lib/apt/lists");
    const bool fresh = known && (*known)["entries"].size() > 2;
    Status done = fresh ? runStep(init, install, env, "sandbox.apt_failed") : Status(fail("again", ""));
    if (!done && done.error().code != "cancelled") {
        GB_TRY(runStep(init, {"apt-get", "update"}, env, "sandbox.apt_failed"));
        done = runStep(init, install, env, "sandbox.apt_failed");
    }
    if (!done)
        return done;
    return runStep(init, {"rm", "-f", "/usr/sbin/policy-rc.d"}, env, "sandbox.apt_failed");
}

Result<std::string> LayerBuilder::findUv() const
{
    if (!m_settings.uv.empty())
        return m_settings.uv;
    for (const char* place : {"/usr/local/bin/uv", "/usr/bin/uv"}) {
        if (::access(place, X_OK) == 0)
            return std::string(place);
    }
    const fs::path folder = m_store.parent_path() / ("uv-" + std::string(uvVersion));
    const std::string program = (folder / "bin" / "uv").string();
    if (::access(program.c_str(), X_OK) == 0)
        return program;
    say("fetching uv " + std::string(uvVersion) + "\n");
    std::map<std::string, std::string> env = environmentHere(m_settings);
    for (const auto& [from, to] : {std::pair{"UV_DEFAULT_INDEX", "PIP_INDEX_URL"},
             std::pair{"UV_INDEX", "PIP_EXTRA_INDEX_URL"}, std::pair{"UV_FIND_LINKS", "PIP_FIND_LINKS"},
             std::pair{"UV_INSECURE_HOST", "PIP_TRUSTED_HOST"}, std::pair{"UV_NO_INDEX", "PIP_NO_INDEX"},
             std::pair{"UV_HTTP_TIMEOUT", "PIP_DEFAULT_TIMEOUT"}, std::pair{"SSL_CERT_FILE", "PIP_CERT"}}) {
        if (const auto found = env.find(from); found != env.end()) {
            env[to] = found->second;
            std::ranges::replace(env[to], ',', ' '); // uv separates with commas, pip with spaces
        }
    }
    const auto venv = runHostCommand({"/usr/bin/python3", "-m", "venv", folder.string()}, {});
    const auto pip = venv && venv->code == 0
        ? runHostCommand({(folder / "bin" / "python").string(), "-m", "pip", "install",
                             "--only-binary=:all:", "uv==" + std::string(uvVersion)},
            env, m_progress.isCancelled)
        : venv;
    if (!pip || pip->code != 0) {
        const std::string said = pip ? tail(pip->output + pip->errors) : pip.error().message;
        return fail(
            "sandbox.no_uv", "uv is not installed and could not be fetched: " + said, Json{{"output", said}});
    }
    return program;
}

std::vector<std::string> LayerBuilder::installCommand(const LayerPlan& layer, Sources sources) const
{
    std::vector<std::string> command{uvInside, "pip", "install", "--python", "/opt/venv/bin/python"};
    if (sources == Sources::WheelsOnly)
        command.emplace_back("--no-build");
    command.emplace_back("--");
    command.insert(command.end(), layer.packages.begin(), layer.packages.end());
    return command;
}

// Where there is no GPU, PyTorch comes from a folder the person set up if the processor's build lies there,
// else from the index uv knows for it, and only where neither can be had as everywhere else.
Status LayerBuilder::installPackages(
    InitClient& init, const LayerPlan& layer, const std::map<std::string, std::string>& env, Sources sources)
{
    const auto attempt = [&](std::map<std::string, std::string> more) {
        more.insert(env.begin(), env.end());
        return runStep(init, installCommand(layer, sources), more, "sandbox.python_failed");
    };
    const auto isOver = [](const Status& done) {
        return done || done.error().code == "cancelled" || wantsBuild(done.error().message)
            || done.error().message.find("torch") == std::string::npos;
    };
    if (!layer.cpuTorch || env.contains("UV_TORCH_BACKEND"))
        return attempt({});
    std::string constraints;
    for (const std::string& constraint : cpuTorchConstraints(env, layer.python))
        constraints += constraint + "\n";
    if (!constraints.empty()) {
        GB_TRY(init.putBytes(constraints, "/run/glovebox/constraints.txt"));
        if (Status done = attempt({{"UV_CONSTRAINT", "/run/glovebox/constraints.txt"}}); isOver(done))
            return done;
        say("the build of PyTorch in your folder of packages does not fit; asking its own index\n");
    }
    if (Status done = attempt({{"UV_TORCH_BACKEND", "cpu"}}); isOver(done))
        return done;
    say("PyTorch's index of builds for processors cannot be used: taking the build for GPUs\n");
    return attempt({});
}

Status LayerBuilder::buildPython(
    const LayerPlan& layer, const std::string& target, const std::vector<std::string>& lowers)
{
    auto uv = findUv();
    if (!uv)
        return fail(uv.error());
    auto done = pythonFromWheels(layer, target, lowers, *uv);
    if (done || done.error().code == "cancelled")
        return done;
    if (!wantsBuild(done.error().message))
        return done;
    say("a package comes as source: building it apart from the shared cache\n");
    GB_TRY(
        runMapped(m_store, {"sh", "-c", "rm -rf \"$1\" \"$1.work\" && mkdir \"$1\"", "sh", target}, m_tools)
            .map([](auto) {}));
    return pythonWithBuilds(layer, target, lowers, *uv);
}

// Wheels are only unpacked, nothing in them runs, so they may come from and go to the shared cache: files of
// the layer are hard links into it.
Status LayerBuilder::pythonFromWheels(const LayerPlan& layer, const std::string& target,
    const std::vector<std::string>& lowers, const std::string& uv)
{
    LaunchSpec spec = buildSpec(lowers);
    spec.upper = target + ".work/scratch"; // what is written beside the venv is thrown away
    spec.work = target + ".work/work";
    spec.folders = {"images/cache/uv", target + "/opt/venv", spec.upper, spec.work};
    spec.tmpfs.push_back({"/opt", 1 << 20, 0755});
    spec.tmpfs.push_back({"/mnt", 1 << 20, 0755});
    spec.binds.push_back({"images", "/mnt/images", true});
    spec.binds.push_back({uv, uvInside});
    spec.links.push_back({"/mnt/" + target + "/opt/venv", "/opt/venv"});
    auto sandbox = launchSandbox(spec, m_tools);
    if (!sandbox)
        return fail(sandbox.error());
    auto env = buildEnvironment();
    env["UV_CACHE_DIR"] = "/mnt/images/cache/uv";
    env["UV_LINK_MODE"] = "hardlink";
    env["UV_NO_CONFIG"] = "1";
    InitClient& init = (*sandbox)->init();
    GB_TRY(runStep(init, {uvInside, "venv", "--allow-existing", "--python", "/usr/bin/python3", "/opt/venv"},
        env, "sandbox.python_failed"));
    return installPackages(init, layer, env, Sources::WheelsOnly);
}

// A source distribution runs its author's code while it is built; that code sees no cache but its own.
Status LayerBuilder::pythonWithBuilds(const LayerPlan& layer, const std::string& target,
    const std::vector<std::string>& lowers, const std::string& uv)
{
    LaunchSpec spec = buildSpec(lowers);
    spec.upper = target;
    spec.work = target + ".work";
    spec.folders = {spec.work};
    spec.binds.push_back({uv, uvInside});
    auto sandbox = launchSandbox(spec, m_tools);
    if (!sandbox)
        return fail(sandbox.error());
    auto env = buildEnvironment();
    env["UV_CACHE_DIR"] = "/tmp/uv";
    env["UV_LINK_MODE"] = "copy";
    env["UV_NO_CONFIG"] = "1";
    InitClient& init = (*sandbox)->init();
    GB_TRY(runStep(
        init, {uvInside, "venv", "--python", "/usr/bin/python3", "/opt/venv"}, env, "sandbox.python_failed"));
    return installPackages(init, layer, env, Sources::BuildToo);
}

} // namespace gb
