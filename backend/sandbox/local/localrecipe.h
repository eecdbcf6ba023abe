// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>

#include <backend/sandbox/sandboxprovider.h>
#include <rpc/launch/launchspec.h>

#include "gpuaccess.h"
#include "imagestore.h"
#include "packageindexes.h"

namespace gb {

// A model whose files are shown one by one, because its folder is made of links.
struct ModelFiles
{
    std::string name;
    std::vector<ModelSource::File> files;
};

struct StartRequest
{
    std::string id; // names its folder in the store
    SandboxSpec spec;
    fs::path experimentFolder; // relative local paths start here
    std::map<std::string, std::string> secrets; // values of spec.secrets that were found
    std::vector<LocalModel> models; // beyond those that name a path in the spec
    std::vector<ModelFiles> modelFiles; // those of the hub's cache
    std::set<std::string> toFetch; // not here yet; empty once it starts
    std::map<std::string, std::string> environment; // the client's
    BuildSettings build;
    std::optional<GpuShare> gpu; // where the spec asks for some
    std::optional<NetworkPlan> network; // where the network is a list of hosts
    std::map<std::string, std::string> pip; // what pip inside is told, where it has a network
    fs::path spoolFolder;
    fs::path hiddenFolder; // where hidden models are laid out under neutral names
    std::vector<BindSpec> binds; // what the keeper needs inside

    fs::path local(const std::string& path) const
    {
        return fs::path(path).is_absolute() ? fs::path(path) : experimentFolder / path;
    }
};

// From a spec to what the launcher is told. `request` outlives it.
class LocalRecipe
{
public:
    LocalRecipe(const ImageStore& images, const StartRequest& request) : m_images(images), m_request(request)
    { }

    // What this provider does not offer, by field.
    static Status check(const SandboxSpec& spec);
    // That everything of this machine the spec names is there.
    static Status checkInputs(const StartRequest& request);
    static std::string placeOf(const std::string& model); // inside
    // Builds layers that are missing.
    Result<LaunchSpec> make(const BuildProgress& progress);

    std::string python; // inside
    std::map<std::string, std::string> environment;
    std::vector<SpecProblem> warnings;

private:
    Status addOwnPython(LaunchSpec& launch);
    Status addImage(LaunchSpec& launch, const BuildProgress& progress);
    Status addPip(LaunchSpec& launch, bool hasVenv);
    Status addModels(LaunchSpec& launch);
    Status addHidden(
        LaunchSpec& launch, const std::string& name, const std::vector<ModelSource::File>& files);
    Status addModel(LaunchSpec& launch, const std::string& name, const fs::path& folder);
    void addModelFiles(LaunchSpec& launch, const ModelFiles& model);
    void addModelNames(LaunchSpec& launch, const std::string& name);
    void addGpu(LaunchSpec& launch);
    void addNetwork(LaunchSpec& launch);
    void addMounts(LaunchSpec& launch);
    void warn(std::string field, std::string message, std::string fix);
    std::string box() const { return "boxes/" + m_request.id; }

    const ImageStore& m_images;
    const StartRequest& m_request;
    std::map<std::string, std::string> m_aliases; // of hidden models
    std::map<std::string, int> m_shortNames; // how many models would answer to one
};

} // namespace gb
