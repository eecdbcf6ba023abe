// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "ownpython.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include <backend/base/clock.h>
#include <backend/base/json.h>

#include "hostcommand.h"

namespace gb {
namespace {

// -I: nothing of the current folder or the person's environment is imported.
constexpr const char* question =
    "import json, os, site, sys; print(json.dumps({"
    "'executable': os.path.realpath(sys.executable), 'named': sys.executable, "
    "'version': '.'.join(map(str, sys.version_info[:3])), "
    "'prefixes': [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, "
    "os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))]}))";

bool isUnder(const std::string& path, const std::string& folder)
{
    return path == folder || path.starts_with(folder + "/");
}

// Too wide to be a prefix: binding one of these would show what nobody asked for.
bool isTooWide(const std::string& path)
{
    static const std::set<std::string> wide{"", "/", "/home", "/root", "/opt", "/srv", "/var", "/etc", "/tmp",
        "/run", "/proc", "/sys", "/dev", "/mnt", "/media"};
    const bool personsHome = path.starts_with("/home/") && path.find('/', 6) == std::string::npos;
    return wide.contains(path) || personsHome;
}

// HOME, because that is where wrappers look for what to run.
Result<HostOutcome> askOnce(const std::string& executable)
{
    constexpr std::int64_t patienceNs = 20'000'000'000;
    const char* const home = std::getenv("HOME");
    const auto begin = monotonicNs();
    auto said = runHostCommand({executable, "-I", "-c", question}, {{"HOME", home ? home : "/nonexistent"}},
        [begin] { return monotonicNs() - begin > patienceNs; });
    if (!said && said.error().code != "cancelled")
        return fail("sandbox.interpreter", executable + " cannot be run: " + said.error().message,
            Json{{"field", "interpreter"}, {"interpreter", executable}});
    return said ? std::move(said)
                : fail("sandbox.interpreter", executable + " did not answer within 20 s",
                    Json{{"field", "interpreter"}, {"interpreter", executable}});
}

bool standsThere(const fs::path& path)
{
    std::error_code error;
    return fs::exists(path, error);
}

constexpr std::array rootLinks{"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

} // namespace

Result<InterpreterInfo> askInterpreter(const std::string& executable)
{
    // Asking takes as long as everything else of a start; the answer holds until the file changes.
    static std::mutex mutex;
    static std::map<std::pair<std::string, fs::file_time_type>, InterpreterInfo> known;
    std::error_code error;
    const std::pair key{executable, fs::last_write_time(executable, error)};
    {
        const std::lock_guard lock(mutex);
        if (const auto found = known.find(key); !error && found != known.end())
            return found->second;
    }
    const auto said = askOnce(executable);
    if (!said)
        return fail(said.error());
    const auto json = said->code == 0 ? parseJson(said->output) : Result<Json>(Json());
    if (!json || !json->is_object() || stringOr(*json, "named").empty())
        return fail("sandbox.interpreter",
            executable + " is not a working Python: " + said->errors.substr(0, 300),
            Json{{"field", "interpreter"}, {"interpreter", executable}});
    InterpreterInfo info;
    info.executable = stringOr(*json, "executable");
    info.named = stringOr(*json, "named");
    info.version = stringOr(*json, "version");
    std::set<std::string> prefixes;
    for (const Json& prefix : (*json)["prefixes"])
        prefixes.insert(fs::path(prefix.get<std::string>()).lexically_normal().string());
    info.prefixes.assign(prefixes.begin(), prefixes.end());
    // What a wrapper runs may change although the wrapper does not.
    if (fs::canonical(executable, error) == info.executable) {
        const std::lock_guard lock(mutex);
        known[key] = info;
    }
    return info;
}

Result<std::string> pythonInside(const InterpreterInfo& info, const std::vector<BindSpec>& binds)
{
    for (const std::string& path : {info.named, info.executable}) {
        if (std::ranges::any_of(binds, [&](const BindSpec& bind) { return isUnder(path, bind.target); }))
            return path;
    }
    return fail("sandbox.interpreter",
        info.executable
            + " lies outside the folders it says it needs; name the interpreter of an "
              "installation or of a virtual environment",
        Json{{"field", "interpreter"}, {"interpreter", info.executable}});
}

Result<std::vector<BindSpec>> ownPythonBinds(const InterpreterInfo& info, const fs::path& etcFolder)
{
    std::vector<BindSpec> binds{{"/usr", "/usr"}};
    for (const char* name : rootLinks) {
        const fs::path path = fs::path("/") / name;
        std::error_code error;
        if (!fs::is_symlink(path, error) && standsThere(path))
            binds.push_back({path.string(), path.string()});
    }
    for (const char* name : {"alternatives", "ssl", "ca-certificates", "ld.so.cache", "ld.so.conf",
             "ld.so.conf.d", "localtime", "mime.types", "python3", "protocols", "services"}) {
        const std::string path = std::string("/etc/") + name;
        if (standsThere(path))
            binds.push_back({path, path});
    }
    for (const char* name : {"passwd", "group", "hosts", "nsswitch.conf"})
        binds.push_back({(etcFolder / name).string(), std::string("/etc/") + name});
    std::vector<std::string> bound{"/usr"};
    for (const std::string& prefix : info.prefixes) {
        const bool covered = std::any_of(
            bound.begin(), bound.end(), [&](const std::string& folder) { return isUnder(prefix, folder); });
        if (covered || prefix == "/")
            continue;
        if (isTooWide(prefix))
            return fail("sandbox.interpreter",
                "the interpreter's prefix is " + prefix
                    + ", which holds more than Python; use one in a folder of its own",
                Json{{"field", "interpreter"}, {"prefix", prefix}});
        binds.push_back({prefix, prefix});
        bound.push_back(prefix);
    }
    return binds;
}

Status checkOwnPython(const std::string& executable)
{
    const auto info = askInterpreter(executable);
    if (!info)
        return fail(info.error());
    const auto binds = ownPythonBinds(*info, {});
    if (!binds)
        return fail(binds.error());
    const auto inside = pythonInside(*info, *binds);
    return inside ? Status() : fail(inside.error());
}

std::vector<LinkSpec> ownPythonLinks()
{
    std::vector<LinkSpec> links;
    for (const char* name : rootLinks) {
        const fs::path path = fs::path("/") / name;
        std::error_code error;
        if (fs::is_symlink(path, error))
            links.push_back({fs::read_symlink(path, error).string(), path.string()});
    }
    return links;
}

Status writeSmallEtc(const fs::path& folder, const std::string& hostname)
{
    // Replacing a file would take it from under a sandbox that is just being mounted.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    std::error_code error;
    fs::create_directories(folder, error);
    const std::pair<const char*, std::string> files[] = {
        {"passwd",
            "root:x:0:0:root:/home/box:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/"
            "nologin\n"},
        {"group", "root:x:0:\nnogroup:x:65534:\n"},
        {"hosts", "127.0.0.1 localhost " + hostname + "\n::1 localhost\n"},
        {"nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"}};
    for (const auto& [name, text] : files) {
        // Read by the ids of a sandbox, which are not ours.
        constexpr unsigned readable = 0644;
        if (readFile(folder / name).value_or("") != text)
            GB_TRY(writeFileAtomic(folder / name, text, readable));
    }
    return {};
}

} // namespace gb
