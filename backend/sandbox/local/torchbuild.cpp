// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "torchbuild.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <sys/utsname.h>

#include <backend/base/files.h>

#include "buildsettings.h"

namespace gb {
namespace {

constexpr std::array torchNames{"torch", "torchvision", "torchaudio"};

// The numbers of "2.13.0+cpu".
std::vector<int> numbersOf(const std::string& version)
{
    std::vector<int> numbers(1, 0);
    for (const char c : version) {
        if (c == '+')
            break;
        if (c == '.')
            numbers.push_back(0);
        else if (std::isdigit(static_cast<unsigned char>(c)) != 0)
            numbers.back() = numbers.back() * 10 + (c - '0');
    }
    return numbers;
}

std::string machineName()
{
    utsname about{};
    return ::uname(&about) == 0 ? std::string(std::begin(about.machine)) : std::string();
}

// Wheels are named NAME-VERSION-PYTHON-ABI-PLATFORM.whl.
std::string cpuVersionOf(const std::string& wheel, const std::string& name, const std::string& pythonTag)
{
    if (!wheel.starts_with(name + "-") || !wheel.ends_with(".whl"))
        return {};
    const std::string rest = wheel.substr(name.size() + 1);
    const std::string version = rest.substr(0, rest.find('-'));
    const bool fits = rest.find("-" + pythonTag + "-") != std::string::npos
        && rest.find(machineName()) != std::string::npos;
    return fits && version.ends_with("+cpu") ? version : std::string();
}

} // namespace

bool machineHasGpu()
{
    return std::ranges::any_of(
        std::array{"/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg"}, [](const char* device) {
            std::error_code error;
            return fs::exists(device, error);
        });
}

std::vector<std::string> cpuTorchConstraints(
    const std::map<std::string, std::string>& buildEnvironment, const std::string& pythonVersion)
{
    std::string pythonTag = "cp" + pythonVersion;
    std::erase(pythonTag, '.');
    std::map<std::string, std::string> best;
    const auto links = buildEnvironment.find("UV_FIND_LINKS");
    for (const std::string& folder :
        localFolders(links == buildEnvironment.end() ? std::string() : links->second)) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            for (const char* name : torchNames) {
                const std::string version = cpuVersionOf(entry.path().filename().string(), name, pythonTag);
                if (!version.empty() && numbersOf(version) >= numbersOf(best[name]))
                    best[name] = version;
            }
        }
    }
    std::vector<std::string> constraints;
    for (const auto& [name, version] : best) {
        if (!version.empty())
            constraints.push_back(name + "==" + version);
    }
    return constraints;
}

} // namespace gb
