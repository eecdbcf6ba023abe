// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "bwrapargs.h"

#include <cstdio>

namespace gb {
namespace {

class Arguments
{
public:
    template <typename... Words>
    void add(const Words&... words)
    {
        (m_words.emplace_back(words), ...);
    }
    std::vector<std::string> take() { return std::move(m_words); }

private:
    std::vector<std::string> m_words;
};

std::string octal(unsigned mode)
{
    char text[16]; // NOLINT: filled by snprintf
    std::snprintf(text, sizeof text, "%04o", mode);
    return text;
}

// All but the last also turns device files off.
const char* bindOption(const BindSpec& bind)
{
    if (bind.device)
        return "--dev-bind";
    return bind.writable ? "--bind" : "--ro-bind";
}

} // namespace

std::vector<std::string> bwrapArguments(const LaunchSpec& spec)
{
    Arguments out;
    out.add("bwrap");
    if (!spec.lowers.empty())
        out.add("--bind", rootFolder, "/");
    // By name and without user: that one exists, with the id map.
    out.add("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup");
    if (!spec.network)
        out.add("--unshare-net");
    out.add("--die-with-parent", "--new-session", "--hostname", spec.hostname);
    for (const std::string& folder : spec.emptyFolders)
        out.add("--dir", folder);
    out.add("--proc", "/proc", "--dev", "/dev");
    for (const TmpfsSpec& mount : spec.tmpfs) {
        out.add("--perms", octal(mount.mode));
        if (mount.bytes > 0)
            out.add("--size", std::to_string(mount.bytes));
        out.add("--tmpfs", mount.target);
    }
    for (std::size_t i = 0; i < spec.binds.size(); ++i)
        out.add(bindOption(spec.binds[i]), std::string(stageFolder) + "/b" + std::to_string(i),
            spec.binds[i].target);
    for (const LinkSpec& link : spec.links)
        out.add("--symlink", link.to, link.at);
    if (spec.readOnlyRoot)
        out.add("--remount-ro", "/");
    out.add("--cap-drop", "ALL");
    for (const std::string& capability : spec.capabilities)
        out.add("--cap-add", capability);
    out.add("--clearenv", "--seccomp", std::to_string(launcherFilterFd), "--chdir", "/", "--as-pid-1", "--");
    out.add(initInside, std::to_string(launcherInitFd));
    return out.take();
}

} // namespace gb
