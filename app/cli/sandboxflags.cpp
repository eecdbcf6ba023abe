// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxflags.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <backend/base/files.h>
#include <backend/domain/experimentfile.h>

#include "serve.h"

namespace gb::cli {
namespace {

std::string absolute(const std::string& path)
{
    return fs::absolute(path).lexically_normal().string();
}

bool isVersion(const std::string& text)
{
    return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

Status addPython(Json& spec, const std::string& wanted)
{
    if (isVersion(wanted)) {
        spec["python_version"] = wanted;
        return {};
    }
    const auto python = chooseInterpreter(wanted);
    if (!python)
        return fail(python.error());
    spec["interpreter"] = *python;
    return {};
}

Status addCpu(Json& spec, const std::string& wanted)
{
    double number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (error != std::errc() || end != wanted.data() + wanted.size())
        return fail("usage", "--cpu takes a number of processors, for example 2 or 0.5");
    spec["cpu"] = number;
    return {};
}

Status addGpu(Json& spec, const std::string& wanted)
{
    const auto colon = wanted.rfind(':');
    spec["gpu"] = wanted.substr(0, colon);
    if (colon == std::string::npos)
        return {};
    int count = 0;
    const auto [end, error] =
        std::from_chars(wanted.data() + colon + 1, wanted.data() + wanted.size(), count);
    if (error != std::errc() || end != wanted.data() + wanted.size())
        return fail("usage", "--gpu takes a type, or a type and a number: A100, any:2");
    spec["gpu_count"] = count;
    return {};
}

// "LOCAL:INSIDE", for folders with a mode behind.
Result<Json> mountFrom(const std::string& option, const std::string& word)
{
    std::string rest = word;
    std::string mode;
    for (const auto& [suffix, name] : {std::pair(":ro", "read-only"), {":rw", "writable"}}) {
        if (option == "--dir" && rest.ends_with(suffix)) {
            rest.resize(rest.size() - 3);
            mode = name;
        }
    }
    const auto colon = rest.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == rest.size())
        return fail("usage", option + " takes LOCAL:INSIDE, not \"" + word + "\"");
    const std::string local = absolute(rest.substr(0, colon));
    const std::string inside = rest.substr(colon + 1);
    if (mode.empty())
        return Json::array({local, inside});
    return Json{{"local", local}, {"inside", inside}, {"mode", mode}};
}

Json modelFrom(const std::string& word)
{
    const auto equals = word.find('=');
    if (equals == std::string::npos)
        return Json{{"name", word}};
    return Json{{"name", word.substr(0, equals)}, {"path", absolute(word.substr(equals + 1))}};
}

Status addVariable(Json& spec, const std::string& word)
{
    const auto equals = word.find('=');
    if (equals != std::string::npos) {
        spec["env"][word.substr(0, equals)] = word.substr(equals + 1);
        return {};
    }
    const char* value = std::getenv(word.c_str());
    if (!value)
        return fail("usage", "the variable " + word + " is not set here; write " + word + "=value");
    spec["env"][word] = value;
    return {};
}

Json networkFrom(const std::string& text)
{
    if (text == "off" || text == "on")
        return text;
    Json hosts = Json::array();
    for (std::size_t from = 0; from <= text.size();) {
        const auto comma = std::min(text.find(',', from), text.size());
        if (comma > from)
            hosts.push_back(text.substr(from, comma - from));
        from = comma + 1;
    }
    return hosts;
}

Status addLists(Json& spec, const Arguments& arguments)
{
    for (const auto& [option, field] :
        {std::pair("--pip", "python_packages"), {"--apt", "system_packages"}, {"--secret", "secrets"}}) {
        for (const std::string& name : arguments.values(option))
            spec[field].push_back(name);
    }
    for (const std::string& word : arguments.values("--model"))
        spec["models"].push_back(modelFrom(word));
    for (const std::string& url : arguments.values("--repo"))
        spec["repos"].push_back(Json{{"url", url}});
    for (const auto& [option, field] : {std::pair("--file", "local_files"), {"--dir", "local_dirs"}}) {
        for (const std::string& word : arguments.values(option)) {
            auto mount = mountFrom(option, word);
            if (!mount)
                return fail(mount.error());
            spec[field].push_back(std::move(*mount));
        }
    }
    for (const std::string& word : arguments.values("--env"))
        GB_TRY(addVariable(spec, word));
    return {};
}

Status addFlags(Json& spec, const Arguments& arguments)
{
    if (arguments.has("--name"))
        spec["name"] = arguments.value("--name");
    if (arguments.has("--scoped"))
        spec["scoped"] = true;
    if (arguments.has("--python"))
        GB_TRY(addPython(spec, arguments.value("--python")));
    if (arguments.has("--memory"))
        spec["memory"] = arguments.value("--memory");
    if (arguments.has("--cpu"))
        GB_TRY(addCpu(spec, arguments.value("--cpu")));
    if (arguments.has("--gpu"))
        GB_TRY(addGpu(spec, arguments.value("--gpu")));
    if (arguments.has("--network"))
        spec["network"] = networkFrom(arguments.value("--network"));
    for (const auto& [option, field] : {std::pair("--timeout", "timeout"), {"--idle", "idle_timeout"}}) {
        if (!arguments.has(option))
            continue;
        const auto seconds = parseSeconds(arguments.value(option));
        if (!seconds)
            return fail("usage", std::string(option) + ": " + seconds.error().message);
        spec[field] = *seconds;
    }
    return addLists(spec, arguments);
}

// The folder's spec, as the daemon reads it; nothing where no folder was named and this one is no experiment.
Status readExperiment(const Arguments& arguments, Session& session, WantedSandbox& wanted)
{
    const bool isNamed = !arguments.positional().empty();
    const std::string folder = absolute(isNamed ? arguments.positional().front() : ".");
    const auto read = session.call("experiments.read", Json{{"experiment", folder}});
    if (!read && read.error().code != "io.not_found")
        return fail(read.error());
    if (!read || stringOr(read->body, "etag").empty()) {
        if (isNamed)
            return fail("experiments.none",
                folder + " has no experiment.toml; make one: glovebox experiment new DIR");
        return {};
    }
    auto spec = sandboxSpecFromToml(stringOr(read->body, "text"));
    if (!spec)
        return fail(spec.error());
    wanted.spec = std::move(*spec);
    wanted.experiment = folder;
    return {};
}

} // namespace

std::vector<Option> sandboxFlags()
{
    return {{"--name", "NAME", "what the sandbox is called"},
        {"--scoped", "", "only its interface can be reached; it has no network"},
        {"--python", "PY", "\"use my Python\": this interpreter of yours; or a version, for an image (3.11)"},
        {"--pip", "PACKAGE", "a Python package, with or without a version", true},
        {"--apt", "PACKAGE", "a system package", true},
        {"--model", "NAME[=DIR]", "a model, downloaded when it is not here; or a folder of yours", true},
        {"--file", "A:B", "copy the file A of this machine to B inside", true},
        {"--dir", "A:B[:ro|:rw]", "copy the folder A to B, or show it there live", true},
        {"--repo", "URL", "clone a repository into /workspace", true},
        {"--secret", "NAME", "hand over this variable of yours as a secret", true},
        {"--env", "NAME[=VALUE]", "set a variable inside", true},
        {"--network", "off|on|HOSTS", "none, all, or only these (a,b,…)"},
        {"--timeout", "TIME", "how long it may live: 90s, 30m, 2h"},
        {"--idle", "TIME", "how long it may do nothing"}, {"--memory", "SIZE", "for example 8GiB"},
        {"--cpu", "N", "processors, for example 2 or 0.5"},
        {"--gpu", "TYPE[:N]", "a GPU of this type, or so many: A100, any:2"}};
}

Result<WantedSandbox> wantedSandbox(const Arguments& arguments, Session& session)
{
    if (arguments.positional().size() > 1)
        return fail("usage", "give at most one folder");
    WantedSandbox wanted;
    GB_TRY(readExperiment(arguments, session, wanted));
    Json json = wanted.spec.toJson();
    GB_TRY(addFlags(json, arguments));
    auto spec = SandboxSpec::fromJson(json);
    if (!spec)
        return fail(spec.error());
    wanted.spec = std::move(*spec);
    return wanted;
}

Result<std::int64_t> parseSeconds(const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit(end, text.data() + text.size());
    std::int64_t factor = 0;
    for (const auto& [name, seconds] :
        {std::pair("", 1), {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}}) {
        if (unit == name)
            factor = seconds;
    }
    constexpr std::int64_t highest = 10LL * 365 * 86400;
    if (error != std::errc() || factor == 0 || number <= 0 || number > highest / factor)
        return fail("usage", "\"" + text + "\" is not a time; write it like 90s, 30m or 2h");
    return number * factor;
}

} // namespace gb::cli
