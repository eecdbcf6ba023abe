// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>
#include <vector>

#include <pwd.h>
#include <unistd.h>

#include <backend/base/json.h>

#include "checks.h"
#include "look.h"
#include "probes.h"

namespace gb {
namespace {

using State = Check::State;

std::string userName()
{
    const passwd* entry = ::getpwuid(::geteuid());
    return entry == nullptr ? std::to_string(::geteuid()) : entry->pw_name;
}

std::string probeDetail(const ProbeResult& probe)
{
    return probe.step + ": " + std::strerror(probe.error);
}

bool isRestrictedByAppArmor(const DoctorOptions& options)
{
    return kernelSetting(options, "kernel/apparmor_restrict_unprivileged_userns", "0") == "1";
}

// The most ids one line of /etc/subuid or /etc/subgid gives the user.
long mostSubordinateIds(const fs::path& file, const std::string& user)
{
    std::istringstream lines(textOfFile(file));
    std::string line;
    long most = 0;
    while (std::getline(lines, line)) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        const std::string name = line.substr(0, first);
        if (name == user || name == std::to_string(::geteuid()))
            most = std::max(most, std::strtol(line.c_str() + second + 1, nullptr, 10));
    }
    return most;
}

fs::path nearestFolderThatIsThere(fs::path folder)
{
    std::error_code error;
    while (!fs::is_directory(folder, error) && folder.has_parent_path() && folder != folder.parent_path())
        folder = folder.parent_path();
    return folder;
}

// The value of NAME= in /etc/os-release.
std::string releaseValue(const DoctorOptions& options, const std::string& name)
{
    std::istringstream lines(textOfFile(systemPath(options, "/etc/os-release")));
    std::string line;
    while (std::getline(lines, line)) {
        if (line.rfind(name + "=", 0) != 0)
            continue;
        std::string value = line.substr(name.size() + 1);
        value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
        return value;
    }
    return {};
}

Check programCheck(const DoctorOptions& options, Check check, const std::string& program)
{
    const fs::path found = findProgram(options, program);
    const ProgramAnswer answer =
        found.empty() ? ProgramAnswer() : askProgram(options, {found.string(), "--version"});
    if (answer.status == 0) {
        check.detail = found.string() + ", " + answer.text.substr(0, answer.text.find('\n'));
        check.fix.clear();
        return check;
    }
    check.state = State::Failed;
    check.detail = found.empty() ? program + " is not on the PATH" : found.string() + " does not run";
    return check;
}

// Where this process stands in the cgroup tree (version 2), as a folder; empty under version 1.
fs::path ownCgroup(const DoctorOptions& options)
{
    std::istringstream lines(textOfFile(systemPath(options, "/proc/self/cgroup")));
    std::string line;
    while (std::getline(lines, line))
        if (line.rfind("0::/", 0) == 0)
            return systemPath(options, "/sys/fs/cgroup") / line.substr(4);
    return {};
}

bool mayMakeGroups(const fs::path& folder)
{
    return ::access(folder.c_str(), W_OK) == 0 && ::access((folder / "cgroup.procs").c_str(), W_OK) == 0;
}

// The folder of version 1 in which this process stands for the controller.
fs::path ownGroupOf(const DoctorOptions& options, const std::string& controller)
{
    std::istringstream lines(textOfFile(systemPath(options, "/proc/self/cgroup")));
    for (std::string line; std::getline(lines, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos)
            continue;
        const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
        if (names.find("," + controller + ",") != std::string::npos)
            return systemPath(options, "/sys/fs/cgroup/" + controller)
                / fs::path(line.substr(second + 1)).relative_path();
    }
    return {};
}

// Where the system can be told to keep this limit; empty when nowhere.
std::string groupFor(const DoctorOptions& options, const std::string& controller)
{
    const fs::path unified = ownCgroup(options);
    std::istringstream names(textOfFile(unified / "cgroup.controllers"));
    const std::vector<std::string> controllers{std::istream_iterator<std::string>(names), {}};
    if (!unified.empty() && std::ranges::find(controllers, controller) != controllers.end()
        && mayMakeGroups(unified))
        return unified.string();
    const fs::path separate = ownGroupOf(options, controller);
    return !separate.empty() && mayMakeGroups(separate) ? separate.string() : std::string();
}

} // namespace

Check checkUserNamespaces(const DoctorOptions& options)
{
    Check check{"user_namespaces", "User namespaces", State::Ok,
        "Sandboxes run without administrator rights.", {}, {}};
    const ProbeResult probe = probeUserNamespace();
    if (probe.error == 0) {
        check.detail = "made one, mounted inside it";
        return check;
    }
    check.state = State::Failed;
    check.meaning = "The system does not let you make user namespaces, so local sandboxes cannot start.";
    check.detail = probeDetail(probe);
    if (isRestrictedByAppArmor(options))
        check.fix = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
    else if (kernelSetting(options, "kernel/unprivileged_userns_clone", "1") == "0")
        check.fix = "sudo sysctl -w kernel.unprivileged_userns_clone=1";
    else if (kernelSetting(options, "user/max_user_namespaces", "1") == "0")
        check.fix = "sudo sysctl -w user.max_user_namespaces=15000";
    else
        check.fix = "In a container, start it with: --security-opt seccomp=unconfined --security-opt "
                    "apparmor=unconfined";
    return check;
}

Check checkDistribution(const DoctorOptions& options)
{
    Check check{"distribution", "Distribution and AppArmor", State::Ok,
        "Glovebox is tested on this distribution.", {}, {}};
    const std::string id = releaseValue(options, "ID");
    const std::string version = releaseValue(options, "VERSION_ID");
    check.detail = releaseValue(options, "PRETTY_NAME");
    if (isRestrictedByAppArmor(options)) {
        std::error_code error;
        const bool profile = fs::exists(systemPath(options, "/etc/apparmor.d/bwrap-userns-restrict"), error);
        check.state = State::Warning;
        check.meaning = "AppArmor restricts user namespaces here, which can keep sandboxes from starting.";
        check.fix = "echo kernel.apparmor_restrict_unprivileged_userns=0 | sudo tee "
                    "/etc/sysctl.d/60-glovebox.conf && sudo sysctl --system";
        check.detail += profile ? "; there is a profile for bwrap" : "; there is no profile for bwrap";
    } else if (id != "debian" || version != "12") {
        check.state = State::Warning;
        check.meaning = "Glovebox is tested on Debian 12; here things may differ.";
        check.fix = "Nothing needs to be done; if something fails, report it with: glovebox diagnostics";
        check.detail += check.detail.empty() ? "no /etc/os-release" : "";
    }
    return check;
}

Check checkSubordinateIds(const DoctorOptions& options)
{
    constexpr long needed = 65536;
    Check check{
        "subordinate_ids", "Subordinate ids", State::Ok, "Sandboxes can have users of their own.", {}, {}};
    if (::geteuid() == 0) {
        check.detail = "root needs none";
        return check;
    }
    const std::string user = userName();
    const long users = mostSubordinateIds(systemPath(options, "/etc/subuid"), user);
    const long groups = mostSubordinateIds(systemPath(options, "/etc/subgid"), user);
    check.detail = std::to_string(users) + " user ids, " + std::to_string(groups) + " group ids";
    const bool tools =
        !findProgram(options, "newuidmap").empty() && !findProgram(options, "newgidmap").empty();
    if (users >= needed && groups >= needed && tools)
        return check;
    check.state = State::Failed;
    check.meaning = "Sandboxes with an image of their own need 65536 subordinate ids and the uidmap tools.";
    if (!tools) {
        check.fix = "sudo apt install uidmap";
        check.detail += "; newuidmap or newgidmap is missing";
    }
    if (users < needed || groups < needed)
        check.fix += std::string(check.fix.empty() ? "" : " && ")
            + "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 " + user;
    return check;
}

Check checkOverlay(const DoctorOptions& options)
{
    Check check{"overlay", "Layered file systems", State::Ok,
        "Sandboxes share their layers and start at once.", {}, {}};
    const fs::path folder = nearestFolderThatIsThere(options.dataFolder);
    const ProbeResult probe = probeOverlay(folder);
    if (probe.error == 0) {
        check.detail = "overlay with userxattr works in " + folder.string();
        return check;
    }
    check.state = State::Failed;
    check.meaning =
        "Overlays cannot be mounted in a user namespace, so sandboxes with an image cannot start.";
    check.detail = probeDetail(probe) + " (" + folder.string() + ")";
    if (probe.error == ENODEV)
        check.fix = "sudo modprobe overlay";
    else if (probe.error == ENOSPC || probe.error == EROFS || probe.error == EACCES)
        check.fix = "Set GLOVEBOX_HOME to a folder of yours on a local disk (ext4, xfs or btrfs)";
    else
        check.fix =
            "Repair user namespaces first; Linux 5.11 or newer and a local disk are needed (uname -r)";
    return check;
}

Check checkBubblewrap(const DoctorOptions& options)
{
    return programCheck(options,
        {"bubblewrap", "Bubblewrap", State::Ok, "Bubblewrap starts local sandboxes.",
            "sudo apt install bubblewrap", {}},
        "bwrap");
}

// What the daemon found when it last started (backend/sandbox/local/isolationproof.h).
Check checkIsolation(const DoctorOptions& options)
{
    Check check{
        "isolation", "Isolation", State::Ok, "A sandbox cannot see or change what it must not.", {}, {}};
    const auto proof = parseJson(textOfFile(options.dataFolder / "isolation.json"));
    if (!proof || !proof->is_object()) {
        check.meaning = "Glovebox tries the isolation of sandboxes when it starts; it has not yet.";
        check.detail = "no record";
        return check;
    }
    std::string denied;
    for (const Json& one : proof->value("checks", Json::array())) {
        if (boolOr(one, "denied_inside") && boolOr(one, "possible_outside"))
            denied += (denied.empty() ? "" : ", ") + stringOr(one, "name");
    }
    check.detail =
        (denied.empty() ? "nothing was denied" : "denied: " + denied) + "; " + stringOr(*proof, "kernel");
    if (boolOr(*proof, "passed"))
        return check;
    check.state = State::Failed;
    check.meaning = "Sandboxes do not start, because their isolation failed its test.";
    check.detail = stringOr(*proof, "failure") + "; " + check.detail;
    check.fix = "Repair what is named above, then: glovebox daemon stop && glovebox doctor";
    return check;
}

Check checkImageBuilder(const DoctorOptions& options)
{
    Check check = programCheck(options,
        {"image_builder", "Image builder", State::Ok, "mmdebstrap builds the sandboxes' images.",
            "sudo apt install mmdebstrap", {}},
        "mmdebstrap");
    // "Use my Python" needs no image.
    if (check.state == State::Failed)
        check.state = State::Warning;
    return check;
}

Check checkCgroups(const DoctorOptions& options)
{
    Check check{"cgroups", "Resource limits", State::Ok,
        "Limits of sandboxes on memory and processors are enforced.", {}, {}};
    const std::string memory = groupFor(options, "memory");
    const std::string cpu = groupFor(options, "cpu");
    check.detail = "memory: " + (memory.empty() ? "watched" : memory)
        + "; processors: " + (cpu.empty() ? "pinned to whole ones" : cpu);
    if (!memory.empty() && !cpu.empty())
        return check;
    check.state = State::Warning;
    check.meaning = memory.empty()
        ? "Memory cannot be limited by the system here: it is watched, and what exceeds its limit is ended."
        : "Memory limits are enforced; a limit on processors gives whole ones.";
    check.fix = "systemd-run --user --scope -p Delegate=yes glovebox gui";
    return check;
}

} // namespace gb
