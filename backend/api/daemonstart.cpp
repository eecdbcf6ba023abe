// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "daemonstart.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <vector>

#include <QProcess>

#include <backend/base/hash.h>
#include <backend/base/paths.h>

namespace gb::api {
namespace {

std::vector<fs::path> filesOfBuild(const fs::path& program)
{
    std::vector<fs::path> files{program};
    std::error_code error;
    for (fs::directory_iterator it(program.parent_path() / "../lib", error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().filename().string().starts_with("libgb_"))
            files.push_back(it->path());
    }
    std::ranges::sort(files);
    return files;
}

QString qtPath(const fs::path& path)
{
    return QString::fromStdString(path.string());
}

} // namespace

Result<fs::path> daemonProgram()
{
    std::vector<fs::path> candidates{programFolder() / "gloveboxd", programFolder() / "../bin/gloveboxd"};
    if (const char* folder = std::getenv("GLOVEBOX_BIN"); folder && *folder)
        candidates.insert(candidates.begin(), fs::path(folder) / "gloveboxd");
    for (const fs::path& candidate : candidates) {
        if (::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return fail("api.no_program", "gloveboxd is not beside this program (" + programFolder().string() + ")");
}

std::string buildId(const fs::path& program)
{
    std::int64_t newest = 0;
    std::string all;
    for (const fs::path& file : filesOfBuild(program)) {
        struct stat info
        { };
        if (::stat(file.c_str(), &info) != 0)
            continue;
        const std::int64_t changed = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
        newest = std::max(newest, changed);
        all += file.filename().string() + ":" + std::to_string(info.st_size) + ":" + std::to_string(changed)
            + "\n";
    }
    if (newest == 0)
        return {};
    return std::to_string(newest) + "-" + sha256Hex(all).substr(0, 12);
}

bool isDaemonVariable(std::string_view name)
{
    static constexpr std::array exact{"HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "XDG_DATA_HOME",
        "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GLOVEBOX_HOME",
        "GLOVEBOX_BIN", "GLOVEBOX_SHARE", "GLOVEBOX_IDLE_EXIT_MS", "ASAN_OPTIONS", "UBSAN_OPTIONS",
        "LSAN_OPTIONS"};
    return name.starts_with("LC_") || std::ranges::find(exact, name) != exact.end();
}

Json clientEnvironment()
{
    static constexpr std::array exact{"PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "LD_LIBRARY_PATH",
        "DBUS_SESSION_BUS_ADDRESS", "HUGGING_FACE_HUB_TOKEN", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
        "ALL_PROXY", "NO_PROXY", "CUDA_VISIBLE_DEVICES", "npm_config_registry", "NPM_CONFIG_REGISTRY",
        "NPM_CONFIG_USERCONFIG", "CONDARC", "CONDA_CHANNELS", "CONDA_CHANNEL_ALIAS", "VIRTUAL_ENV",
        "CONDA_PREFIX"};
    static constexpr std::array starts{"HF_", "XDG_", "PIP_", "UV_"};
    Json environment = Json::object();
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        const bool wanted = std::ranges::find(exact, name) != exact.end()
            || std::ranges::any_of(starts, [name](const char* start) { return name.starts_with(start); });
        if (wanted && name.size() < text.size())
            environment[std::string(name)] = text.substr(name.size() + 1);
    }
    return environment;
}

Status startDaemon(const fs::path& program, const fs::path& dataFolder)
{
    QProcessEnvironment environment;
    const QProcessEnvironment ours = QProcessEnvironment::systemEnvironment();
    for (const QString& name : ours.keys()) {
        if (isDaemonVariable(name.toStdString()))
            environment.insert(name, ours.value(name));
    }
    environment.insert(QStringLiteral("PATH"),
        QStringLiteral("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));

    QProcess process;
    process.setProgram(qtPath(program));
    process.setArguments({QStringLiteral("--data-folder"), qtPath(dataFolder)});
    process.setWorkingDirectory(QStringLiteral("/"));
    process.setProcessEnvironment(environment);
    process.setStandardInputFile(QProcess::nullDevice());
    process.setStandardOutputFile(QProcess::nullDevice());
    process.setStandardErrorFile(QProcess::nullDevice());
    if (!process.startDetached())
        return fail("api.cannot_start", "cannot start " + program.string(),
            Json{{"program", program.string()}, {"reason", process.errorString().toStdString()}});
    return {};
}

Result<UniqueFd> connectLocal(const fs::path& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.size() >= sizeof address.sun_path)
        return fail("io.path_too_long", text + " is too long for a socket");
    std::memcpy(address.sun_path, text.data(), text.size());
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid())
        return failErrno("cannot make a socket for", text, errno);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return failErrno("cannot connect to", text, errno);
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid())
        return fail("api.foreign_peer", text + " is served by another user");
    return fd;
}

} // namespace gb::api
