// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <backend/base/fd.h>

#include "checks.h"
#include "look.h"

namespace gb {
namespace {

using State = Check::State;

std::vector<fs::path> nvidiaDevices(const DoctorOptions& options)
{
    std::vector<fs::path> devices;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(systemPath(options, "/dev"), error)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind("nvidia", 0) == 0 && name.size() > 6
            && std::all_of(name.begin() + 6, name.end(), [](char c) { return c >= '0' && c <= '9'; }))
            devices.push_back(entry.path());
    }
    std::sort(devices.begin(), devices.end());
    return devices;
}

// The file that says what a GPU needs inside, where the container toolkit has written one.
std::string cdiSpecification(const DoctorOptions& options)
{
    for (const char* folder : {"/etc/cdi", "/var/run/cdi"}) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(systemPath(options, folder), error)) {
            const std::string kind = entry.path().extension().string();
            if (kind == ".json" || kind == ".yaml" || kind == ".yml")
                return entry.path().string();
        }
    }
    return {};
}

// A display or compute controller of NVIDIA on the bus, whether or not a driver knows it.
bool hasNvidiaCard(const DoctorOptions& options)
{
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(systemPath(options, "/sys/bus/pci/devices"), error))
        if (textOfFile(entry.path() / "vendor") == "0x10de"
            && textOfFile(entry.path() / "class").rfind("0x03", 0) == 0)
            return true;
    return false;
}

// Its version, and what it really is.
constexpr const char* pythonQuestion = "import os, sys; print('%d.%d.%d' % sys.version_info[:3]); "
                                       "print(os.path.realpath(sys.executable))";

// Each version once, from the folders of the PATH in order: python3, python3.8, python3.12, …
std::vector<fs::path> pythonPrograms(const DoctorOptions& options)
{
    constexpr std::size_t mostPythons = 12;
    std::vector<fs::path> programs;
    std::set<fs::path> seen;
    std::istringstream folders(environmentValue(options, "PATH"));
    std::string folder;
    while (std::getline(folders, folder, ':')) {
        std::vector<std::string> names{"python3"};
        for (int minor = 8; minor < 20; ++minor)
            names.push_back("python3." + std::to_string(minor));
        for (const std::string& name : names) {
            std::error_code error;
            const fs::path real = fs::canonical(fs::path(folder) / name, error);
            if (!error && ::access(real.c_str(), X_OK) == 0 && seen.insert(real).second
                && programs.size() < mostPythons)
                programs.push_back(fs::path(folder) / name);
        }
    }
    return programs;
}

std::string gigabytes(std::uint64_t bytes)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GB", double(bytes) / 1e9);
    return text;
}

// An error's name when a listening socket on 127.0.0.1 cannot be made and reached.
std::string loopbackError()
{
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* where = reinterpret_cast<sockaddr*>(&address);
    if (!listener.valid() || ::bind(listener.get(), where, size) != 0 || ::listen(listener.get(), 1) != 0
        || ::getsockname(listener.get(), where, &size) != 0)
        return std::strerror(errno);
    const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!client.valid() || (::connect(client.get(), where, size) != 0 && errno != EINPROGRESS))
        return std::strerror(errno);
    return {};
}

} // namespace

Check checkGpu(const DoctorOptions& options)
{
    Check check{"gpu", "GPU", State::Ok, "Sandboxes can use the GPU.", {}, {}};
    const std::vector<fs::path> devices = nvidiaDevices(options);
    const std::string driver = textOfFile(systemPath(options, "/proc/driver/nvidia/version"));
    check.detail = std::to_string(devices.size()) + " NVIDIA devices";
    if (!driver.empty())
        check.detail += ", " + driver.substr(0, driver.find('\n'));
    if (devices.empty()) {
        const bool card = hasNvidiaCard(options);
        check.state = card ? State::Warning : State::Ok;
        check.meaning = card
            ? "There is an NVIDIA card, but its driver is not loaded: models run on the processor."
            : "No GPU here, which is fine: models run on the processor.";
        check.fix = card ? "sudo apt install nvidia-driver && sudo reboot" : "";
        return check;
    }
    const std::string specification = cdiSpecification(options);
    check.detail +=
        specification.empty() ? "; given by the driver's device files" : "; given by " + specification;
    if (::access(devices.front().c_str(), R_OK | W_OK) != 0) {
        check.state = State::Warning;
        check.meaning = "There is a GPU that you may not use.";
        check.fix = "sudo usermod --append --groups video,render $USER, then log in again";
    }
    return check;
}

Check checkDisk(const DoctorOptions& options)
{
    constexpr std::uint64_t least = 2'000'000'000;
    constexpr std::uint64_t comfortable = 20'000'000'000;
    Check check{"disk", "Disk space", State::Ok, "There is room for models, images and runs.", {}, {}};
    fs::path folder = options.dataFolder;
    struct statvfs info
    { };
    while (
        ::statvfs(folder.c_str(), &info) != 0 && folder.has_parent_path() && folder != folder.parent_path())
        folder = folder.parent_path();
    const std::uint64_t free = std::uint64_t(info.f_bavail) * info.f_frsize;
    check.detail = gigabytes(free) + " free in " + folder.string();
    const bool writable = ::access(folder.c_str(), W_OK) == 0;
    if (free >= comfortable && writable)
        return check;
    check.state = free < least || !writable ? State::Failed : State::Warning;
    check.meaning = writable ? "Little space is left: an image takes about 1 GB, a model several."
                             : "The data folder cannot be written.";
    check.fix = "Free space there (du -xh --max-depth=2 " + folder.string()
        + " | sort -h | tail), or set GLOVEBOX_HOME to a folder on another disk";
    if (!writable)
        check.fix = "sudo chown -R $USER " + folder.string() + ", or set GLOVEBOX_HOME to a folder of yours";
    return check;
}

Check checkPorts(const DoctorOptions&)
{
    const std::string error = loopbackError();
    if (error.empty())
        return {"ports", "Local ports", State::Ok, "Interfaces can be reached on this machine.", {},
            "listened and connected on 127.0.0.1"};
    return {"ports", "Local ports", State::Failed,
        "No port on 127.0.0.1 can be used, so interfaces cannot be reached.", "sudo ip link set lo up",
        error};
}

Check checkPythons(const DoctorOptions& options)
{
    Check check{"pythons", "Python", State::Ok, "Interfaces can run with these.", {}, {}};
    std::set<std::string> listed;
    for (const fs::path& program : pythonPrograms(options)) {
        const ProgramAnswer answer =
            askProgram(options, {program.string(), "-I", "-S", "-c", pythonQuestion});
        const auto line = answer.text.find('\n');
        if (answer.status != 0 || line == std::string::npos
            || !listed.insert(answer.text.substr(line)).second)
            continue;
        // A version manager's python3 is a script: what it leads to is the Python.
        std::error_code error;
        const std::string real = answer.text.substr(line + 1);
        const bool isScript = fs::canonical(program, error).string() != real;
        check.detail += (check.detail.empty() ? "" : ", ") + answer.text.substr(0, line) + " ("
            + (isScript ? real : program.string()) + ")";
    }
    if (check.detail.empty()) {
        check.state = State::Failed;
        check.meaning = "No Python 3.8 or newer is on the PATH; interfaces are Python files.";
        check.fix = "sudo apt install python3 python3-venv";
        check.detail = "neither python3 nor python3.8 to python3.19 runs";
    }
    return check;
}

Check checkAgents(const DoctorOptions& options)
{
    Check check{"agents", "Agent programs", State::Ok, "Agents can work with your interfaces.", {}, {}};
    for (const char* name : {"claude", "codex", "gemini"})
        if (const fs::path found = findProgram(options, name); !found.empty())
            check.detail += (check.detail.empty() ? "" : ", ") + found.string();
    if (check.detail.empty()) {
        check.state = State::Warning;
        check.meaning =
            "No agent program was found. Agents over a model API need none; calling functions by hand "
            "works without.";
        check.fix = "npm install -g @anthropic-ai/claude-code (or @openai/codex, @google/gemini-cli)";
        check.detail = "claude, codex and gemini are not on the PATH";
    }
    return check;
}

} // namespace gb
