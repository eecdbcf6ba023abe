// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "doctor.h"

#include <unistd.h>

#include "checks.h"

namespace gb {

Json Check::toJson() const
{
    const char* states[] = {"ok", "warning", "failed"};
    Json json{{"id", id}, {"title", title}, {"state", states[static_cast<int>(state)]}, {"meaning", meaning}};
    if (!fix.empty())
        json["fix"] = fix;
    json["detail"] = detail;
    return json;
}

std::map<std::string, std::string> processEnvironment()
{
    std::map<std::string, std::string> all;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::size_t equals = text.find('=');
        if (equals != std::string::npos)
            all.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return all;
}

std::vector<Check> runDoctor(const DoctorOptions& options)
{
    using Function = Check (*)(const DoctorOptions&);
    constexpr std::pair<const char*, Function> checks[] = {{"display", checkDisplay},
        {"webengine", checkWebEngine}, {"user_namespaces", checkUserNamespaces},
        {"distribution", checkDistribution}, {"subordinate_ids", checkSubordinateIds},
        {"overlay", checkOverlay}, {"bubblewrap", checkBubblewrap}, {"isolation", checkIsolation},
        {"image_builder", checkImageBuilder}, {"cgroups", checkCgroups}, {"keyring", checkKeyring},
        {"gpu", checkGpu}, {"disk", checkDisk}, {"ports", checkPorts}, {"pythons", checkPythons},
        {"hub", checkHub}, {"token", checkToken}, {"agents", checkAgents}};
    std::vector<Check> found;
    for (const auto& [id, check] : checks)
        if (options.only.empty() || options.only == id)
            found.push_back(check(options));
    return found;
}

Json checksJson(const std::vector<Check>& checks)
{
    Json list = Json::array();
    for (const Check& check : checks)
        list.push_back(check.toJson());
    return Json{{"checks", std::move(list)}};
}

} // namespace gb
