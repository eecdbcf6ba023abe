// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include <backend/domain/sandboxspec.h>
#include <rpc/launch/launcher.h>

#include "buildsettings.h"

namespace gb {

// One step of an image, known by what goes into it.
struct LayerPlan
{
    enum class Kind { Base, System, Python };

    Kind kind = Kind::Base;
    std::string key;
    std::string title;
    std::string parent; // key of the layer below
    std::vector<std::string> packages;
    std::string suite;
    std::string python; // "3.11"
    bool cpuTorch = false; // PyTorch without what only a GPU uses
    bool present = false;
};

struct LayerRecord
{
    std::string key;
    std::string title;
    std::vector<std::string> packages;
    std::int64_t bytes = 0;
    std::int64_t builtAt = 0;
    std::int64_t usedAt = 0;
};

struct BuildProgress
{
    std::function<void(const LayerPlan& layer, std::size_t index, std::size_t count)> onLayer;
    std::function<void(std::string_view text)> onOutput;
    std::function<bool()> isCancelled;
};

// The layers of the local provider: built once, shared by sandboxes, listed with sizes, removed when unused.
//   store/images/layers/KEY    a layer's files, owned by the ids of the map
//   store/images/cache         packages already fetched
//   records/KEY.json           what is in a layer; a layer without a record is a failed build
class ImageStore
{
public:
    ImageStore(fs::path folder, LaunchTools tools);

    fs::path storeFolder() const { return m_folder / "store"; }
    const LaunchTools& tools() const { return m_tools; }
    Status prepare() const;

    // Oldest first: what Debian's releases have.
    static std::vector<std::string> pythonVersions();
    // Bottom first. A spec this machine can make no image for is an error that names the field.
    Result<std::vector<LayerPlan>> plan(const SandboxSpec& spec) const;
    // Builds what is missing. Two builders of the same layer wait for each other.
    Status build(const std::vector<LayerPlan>& layers, const BuildSettings& settings,
        const BuildProgress& progress) const;
    // For LaunchSpec::lowers: newest first, relative to the store.
    static std::vector<std::string> lowers(const std::vector<LayerPlan>& layers);

    std::vector<LayerRecord> list() const;
    // Refused while a sandbox or another layer stands on it is the caller's affair: inUse names those keys.
    Result<std::vector<std::string>> collect(const std::vector<std::string>& inUse) const;

private:
    bool isPresent(const std::string& key) const;
    Status buildLayer(const std::vector<LayerPlan>& below, const LayerPlan& layer,
        const BuildSettings& settings, const BuildProgress& progress) const;
    Status finish(const LayerPlan& layer) const;
    Status removeFolder(const std::string& relative) const;

    fs::path m_folder;
    LaunchTools m_tools;
};

} // namespace gb
