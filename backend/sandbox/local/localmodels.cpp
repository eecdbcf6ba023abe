// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// Where the models of a spec come from, and what it takes to have them here.

#include "localmodels.h"

#include <algorithm>

#include "localprovider.h"

namespace gb {
namespace {

bool hasFolder(const SandboxSpec& spec, const std::string& model)
{
    return std::ranges::any_of(
        spec.models, [&](const ModelSpec& other) { return other.name == model && !other.path.empty(); });
}

} // namespace

std::int64_t bytesIn(const fs::path& path)
{
    constexpr int mostEntries = 200'000; // a plan is an estimate
    std::error_code error;
    if (fs::is_regular_file(path, error))
        return static_cast<std::int64_t>(fs::file_size(path, error));
    std::int64_t sum = 0;
    int count = 0;
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end && count < mostEntries;
         it.increment(error), ++count) {
        std::error_code ignored;
        if (it->is_regular_file(ignored) && !it->is_symlink(ignored))
            sum += static_cast<std::int64_t>(it->file_size(ignored));
    }
    return sum;
}

std::vector<std::string> modelsToFetch(const StartRequest& request, const ModelSpec& model)
{
    std::vector<std::string> names;
    for (const std::string& name : {model.name, model.isPeft ? model.baseModel : std::string()}) {
        if (request.toFetch.contains(name))
            names.push_back(name);
    }
    return names;
}

Status LocalProvider::addModelFiles(StartRequest& request, const std::string& model) const
{
    if (!m_options.models || hasFolder(request.spec, model))
        return {};
    auto files = m_options.models->files(model, request.environment);
    // A cache that cannot be read is no reason to fetch everything again.
    if (!files && files.error().code != "hub.not_cached")
        return fail(files.error());
    if (!files || files->empty()) {
        request.toFetch.insert(model);
        return {};
    }
    request.toFetch.erase(model);
    request.modelFiles.push_back({model, std::move(*files)});
    return {};
}

PlanStep LocalProvider::modelStep(const StartRequest& request, const ModelSpec& model) const
{
    PlanStep step{"model:" + model.name, "Model " + model.name, "model", true, {}, {}};
    step.reused = modelsToFetch(request, model).empty();
    if (!step.reused)
        return step; // its bytes are for whoever looks them up
    std::int64_t bytes = model.path.empty() ? 0 : bytesIn(request.local(model.path));
    for (const ModelFiles& one : request.modelFiles) {
        for (const ModelSource::File& file : one.files)
            bytes += one.name == model.name ? bytesIn(file.source) : 0;
    }
    step.bytes = bytes;
    return step;
}

auto LocalProvider::lookUpModels(const StartRequest& request, std::vector<PlanStep>& steps) const
    -> std::vector<Obstacle>
{
    std::vector<Obstacle> obstacles;
    std::set<std::string> counted; // a base may be named as a model too
    for (const ModelSpec& model : request.spec.models) {
        const auto step = std::ranges::find(steps, "model:" + model.name, &PlanStep::id);
        if (step == steps.end())
            continue;
        std::int64_t bytes = 0;
        bool isSized = true;
        for (const std::string& name : modelsToFetch(request, model)) {
            if (counted.contains(name))
                continue;
            const ModelSource::Missing missing = m_options.models->lookUp(name, request.environment);
            if (missing.obstacle) {
                step->page = stringOr(missing.obstacle->data, "page");
                obstacles.push_back({step->id, *missing.obstacle});
            }
            isSized = isSized && missing.bytes;
            for (const auto& [part, size] :
                missing.bytes.value_or(std::map<std::string, std::int64_t>{{name, 0}}))
                bytes += counted.insert(part).second ? size : 0;
        }
        if (!step->reused && isSized)
            step->bytes = bytes;
    }
    return obstacles;
}

} // namespace gb
