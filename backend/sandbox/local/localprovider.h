// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include <backend/sandbox/sandboxprovider.h>
#include <rpc/launch/launcher.h>

#include "imagestore.h"
#include "localrecipe.h"
#include "steptimes.h"

namespace gb {

// Sandboxes on this machine: layers here, one detached keeper process each. Everything about one that must
// survive the daemon lies in DATA/boxes/ID; box.json there is the tag it is found by.
class LocalProvider final : public SandboxProvider
{
public:
    struct Options
    {
        fs::path dataFolder;
        fs::path host; // glovebox-host
        LaunchTools tools;
        fs::path workerPackage; // the folder glovebox_worker
        std::shared_ptr<ModelSource> models;
    };
    explicit LocalProvider(Options options);

    std::string id() const override { return "local"; }
    void prepare() override;
    SandboxCapabilities capabilities(const std::map<std::string, std::string>& environment) override;
    Result<SandboxPlan> plan(const SandboxRequest& request) override;
    Result<CreatedSandbox> create(const SandboxRequest& request, ProvisionWatch& watch) override;
    Status terminate(const SandboxRecord& record) override;
    Status remove(const SandboxRecord& record) override;
    Result<std::vector<FoundSandbox>> list() override;
    Result<fs::path> control(const SandboxRecord& record) override;
    Result<fs::path> serve(const SandboxRecord& record, const ServeOrder& order,
        const std::function<bool()>& isCancelled) override;
    Result<std::vector<SandboxImage>> images(const std::vector<SandboxRecord>& wanted) override;
    Result<CollectedImages> collect(const std::vector<SandboxRecord>& wanted) override;

private:
    class Creation;

    Result<StartRequest> startRequest(const SandboxRequest& request) const;
    Result<std::vector<PlanStep>> stepsOf(const StartRequest& request) const;
    PlanStep modelStep(const StartRequest& request, const ModelSpec& model) const;
    struct Obstacle
    {
        std::string step;
        Error error;
    };
    // What keeps models from being fetched; puts the bytes that are to come into their steps.
    std::vector<Obstacle> lookUpModels(const StartRequest& request, std::vector<PlanStep>& steps) const;
    Status addModelFiles(StartRequest& request, const std::string& model) const;
    // That what is inside cannot see out: once per start of the daemon, and again when bubblewrap was
    // replaced.
    Status proveIsolation();
    Status removeWritten(const std::string& id) const;
    fs::path boxFolder(const std::string& id) const { return m_options.dataFolder / "boxes" / id; }
    Result<fs::path> controlOf(const std::string& id) const;
    std::vector<std::string> keysOf(const std::vector<SandboxRecord>& records) const;

    Options m_options;
    ImageStore m_images;
    StepTimes m_times;
    std::mutex m_proofMutex;
    std::string m_provenFor; // kernel and bubblewrap
    std::atomic<bool> m_isProven = false;
};

} // namespace gb
