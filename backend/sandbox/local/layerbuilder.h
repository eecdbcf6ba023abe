// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "imagestore.h"

namespace gb {

// How one layer is filled. `target` is its folder, relative to the store and empty; `lowers` are the layers
// below, newest first.
class LayerBuilder
{
public:
    LayerBuilder(
        fs::path store, LaunchTools tools, const BuildSettings& settings, const BuildProgress& progress);

    Status buildBase(const LayerPlan& layer, const std::string& target);
    Status buildSystem(
        const LayerPlan& layer, const std::string& target, const std::vector<std::string>& lowers);
    Status buildPython(
        const LayerPlan& layer, const std::string& target, const std::vector<std::string>& lowers);

private:
    LaunchSpec buildSpec(const std::vector<std::string>& lowers) const;
    Result<std::string> findUv() const;
    std::map<std::string, std::string> buildEnvironment() const;
    Status runStep(InitClient& init, std::vector<std::string> argv,
        const std::map<std::string, std::string>& env, const char* code);
    Status pythonFromWheels(const LayerPlan& layer, const std::string& target,
        const std::vector<std::string>& lowers, const std::string& uv);
    Status pythonWithBuilds(const LayerPlan& layer, const std::string& target,
        const std::vector<std::string>& lowers, const std::string& uv);
    enum class Sources { WheelsOnly, BuildToo };
    Status installPackages(InitClient& init, const LayerPlan& layer,
        const std::map<std::string, std::string>& env, Sources sources);
    std::vector<std::string> installCommand(const LayerPlan& layer, Sources sources) const;
    void say(std::string_view text) const;

    fs::path m_store;
    LaunchTools m_tools;
    const BuildSettings& m_settings;
    const BuildProgress& m_progress;
};

} // namespace gb
