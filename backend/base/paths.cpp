// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "paths.h"

#include <cstdlib>
#include <pwd.h>

#include "hash.h"

namespace gb {
namespace {

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

fs::path homeFolder()
{
    if (const std::string home = environment("HOME"); !home.empty())
        return home;
    const passwd* entry = ::getpwuid(::geteuid());
    return entry ? entry->pw_dir : "/";
}

} // namespace

fs::path dataFolder()
{
    if (const std::string own = environment("GLOVEBOX_HOME"); !own.empty())
        return fs::absolute(own).lexically_normal();
    if (const std::string xdg = environment("XDG_DATA_HOME"); !xdg.empty() && xdg.front() == '/')
        return fs::path(xdg) / "glovebox";
    return homeFolder() / ".local/share/glovebox";
}

Result<fs::path> socketFolder(const fs::path& data)
{
    const fs::path mine = "/tmp/glovebox-" + std::to_string(::geteuid());
    GB_TRY(ensurePrivateDir(mine));
    std::error_code error;
    fs::path canonical = fs::weakly_canonical(data, error);
    if (error)
        canonical = data;
    const fs::path folder = mine / sha256Hex(canonical.string()).substr(0, 16);
    GB_TRY(ensurePrivateDir(folder));
    return folder;
}

Result<fs::path> daemonSocket(const fs::path& data)
{
    auto folder = socketFolder(data);
    if (!folder)
        return fail(folder.error());
    return *folder / "daemon.sock";
}

fs::path programFolder()
{
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path shareFolder()
{
    if (const std::string own = environment("GLOVEBOX_SHARE"); !own.empty())
        return own;
    return programFolder().parent_path() / "share/glovebox";
}

} // namespace gb
