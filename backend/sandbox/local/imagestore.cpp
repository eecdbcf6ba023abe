// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "imagestore.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include <fcntl.h>
#include <sys/file.h>

#include <backend/base/clock.h>
#include <backend/base/hash.h>
#include <backend/base/json.h>

#include "layerbuilder.h"
#include "torchbuild.h"

namespace gb {
namespace {

// Raised whenever a recipe changes what comes out of the same inputs.
constexpr int recipeVersion = 1;
constexpr std::size_t keyLength = 20;

struct Suite
{
    const char* python;
    const char* name;
};
constexpr Suite suites[] = {{"3.9", "bullseye"}, {"3.11", "bookworm"}, {"3.13", "trixie"}};

const char* kindName(LayerPlan::Kind kind)
{
    switch (kind) {
    case LayerPlan::Kind::Base:
        return "base";
    case LayerPlan::Kind::System:
        return "system";
    case LayerPlan::Kind::Python:
        break;
    }
    return "python";
}

std::string layerFolder(const std::string& key)
{
    return "images/layers/" + key;
}

void giveKey(LayerPlan& layer)
{
    Json inputs{{"recipe", recipeVersion}, {"kind", kindName(layer.kind)}, {"suite", layer.suite},
        {"parent", layer.parent}, {"packages", layer.packages}};
    if (layer.cpuTorch)
        inputs["torch"] = "cpu";
    layer.key = std::string(kindName(layer.kind)) + "-" + sha256Hex(inputs.dump()).substr(0, keyLength);
}

// Held while a layer is built; another builder of the same layer waits, and then finds it there.
class BuildLock
{
public:
    explicit BuildLock(const fs::path& path) : m_fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600))
    {
        while (m_fd.valid() && ::flock(m_fd.get(), LOCK_EX) != 0 && errno == EINTR) { }
    }

private:
    UniqueFd m_fd;
};

} // namespace

ImageStore::ImageStore(fs::path folder, LaunchTools tools)
    : m_folder(std::move(folder)), m_tools(std::move(tools))
{ }

Status ImageStore::prepare() const
{
    GB_TRY(ensurePrivateDir(m_folder));
    GB_TRY(ensurePrivateDir(m_folder / "records"));
    GB_TRY(ensurePrivateDir(m_folder / "locks"));
    GB_TRY(prepareStore(storeFolder()));
    return {};
}

bool ImageStore::isPresent(const std::string& key) const
{
    std::error_code error;
    return fs::exists(m_folder / "records" / (key + ".json"), error);
}

std::vector<std::string> ImageStore::pythonVersions()
{
    std::vector<std::string> versions;
    for (const Suite& suite : suites)
        versions.emplace_back(suite.python);
    return versions;
}

Result<std::vector<LayerPlan>> ImageStore::plan(const SandboxSpec& spec) const
{
    const std::string wanted = spec.pythonVersion.substr(0, spec.pythonVersion.find('.', 2));
    const auto* suite = std::find_if(
        std::begin(suites), std::end(suites), [&](const Suite& s) { return wanted == s.python; });
    if (suite == std::end(suites)) {
        const std::string fix = "choose 3.9, 3.11 or 3.13, or name one of this machine as `interpreter`";
        return fail("spec.invalid", "python_version: no Debian image has Python " + wanted + "; " + fix,
            Json{{"field", "python_version"}, {"fix", fix}});
    }
    std::vector<LayerPlan> layers;
    const auto add = [&](LayerPlan::Kind kind, std::string title, std::vector<std::string> packages) {
        LayerPlan layer;
        layer.kind = kind;
        layer.title = std::move(title);
        std::sort(packages.begin(), packages.end());
        layer.packages = std::move(packages);
        layer.suite = suite->name;
        layer.python = suite->python;
        layer.cpuTorch = kind == LayerPlan::Kind::Python && !machineHasGpu();
        layer.parent = layers.empty() ? "" : layers.back().key;
        giveKey(layer);
        layer.present = isPresent(layer.key);
        layers.push_back(std::move(layer));
    };
    add(LayerPlan::Kind::Base, std::string("Debian ") + suite->name + " with Python " + suite->python, {});
    if (!spec.systemPackages.empty())
        add(LayerPlan::Kind::System, "system packages", spec.systemPackages);
    std::vector<std::string> packages = spec.pythonPackages;
    if (spec.effectiveExecutionMode() == ExecutionMode::Notebook) {
        for (const std::string& package : spec.notebookPackages) {
            if (std::find(packages.begin(), packages.end(), package) == packages.end())
                packages.push_back(package);
        }
    }
    if (!packages.empty())
        add(LayerPlan::Kind::Python, "Python packages", packages);
    return layers;
}

std::vector<std::string> ImageStore::lowers(const std::vector<LayerPlan>& layers)
{
    std::vector<std::string> out;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
        out.push_back(layerFolder(layer->key));
    return out;
}

Status ImageStore::build(
    const std::vector<LayerPlan>& layers, const BuildSettings& settings, const BuildProgress& progress) const
{
    GB_TRY(prepare());
    std::vector<LayerPlan> below;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (progress.isCancelled && progress.isCancelled())
            return fail("cancelled", "the build was cancelled");
        if (progress.onLayer)
            progress.onLayer(layers[i], i, layers.size());
        const BuildLock lock(m_folder / "locks" / layers[i].key);
        if (!isPresent(layers[i].key))
            GB_TRY(buildLayer(below, layers[i], settings, progress));
        const fs::path record = m_folder / "records" / (layers[i].key + ".json");
        std::error_code ignored;
        fs::last_write_time(record, fs::file_time_type::clock::now(), ignored);
        below.push_back(layers[i]);
    }
    return {};
}

Status ImageStore::buildLayer(const std::vector<LayerPlan>& below, const LayerPlan& layer,
    const BuildSettings& settings, const BuildProgress& progress) const
{
    const std::string folder = layerFolder(layer.key);
    const std::string partial = folder + ".partial";
    GB_TRY(removeFolder(folder)); // of a build that was killed between its two last steps
    GB_TRY(removeFolder(partial));
    const auto made = runMapped(storeFolder(), {"mkdir", "-p", partial}, m_tools);
    if (!made || made->code != 0)
        return made ? fail("sandbox.store", "cannot make " + partial + ": " + made->output)
                    : fail(made.error());
    LayerBuilder builder(storeFolder(), m_tools, settings, progress);
    Status done;
    switch (layer.kind) {
    case LayerPlan::Kind::Base:
        done = builder.buildBase(layer, partial);
        break;
    case LayerPlan::Kind::System:
        done = builder.buildSystem(layer, partial, lowers(below));
        break;
    case LayerPlan::Kind::Python:
        done = builder.buildPython(layer, partial, lowers(below));
        break;
    }
    if (!done) {
        (void)removeFolder(partial);
        (void)removeFolder(partial + ".work");
        return done;
    }
    return finish(layer);
}

Status ImageStore::finish(const LayerPlan& layer) const
{
    const std::string folder = layerFolder(layer.key);
    const auto moved = runMapped(storeFolder(),
        {"sh", "-c",
            "rm -rf \"$1.partial.work\" && mv -T \"$1.partial\" \"$1\" && du -s --block-size=1 \"$1\"", "sh",
            folder},
        m_tools);
    if (!moved || moved->code != 0)
        return moved ? fail("sandbox.store", "cannot finish the layer: " + moved->output)
                     : fail(moved.error());
    const Json record{{"key", layer.key}, {"title", layer.title}, {"packages", layer.packages},
        {"suite", layer.suite}, {"parent", layer.parent}, {"built_at", wallMs()},
        {"bytes", std::strtoll(moved->output.c_str(), nullptr, 10)}};
    return writeFileAtomic(m_folder / "records" / (layer.key + ".json"), record.dump(1));
}

Status ImageStore::removeFolder(const std::string& relative) const
{
    const auto removed = runMapped(storeFolder(),
        {"sh", "-c", "[ ! -e \"$1\" ] || { chmod -R u+rwX \"$1\"; rm -rf \"$1\"; }", "sh", relative},
        m_tools);
    if (!removed || removed->code != 0)
        return removed ? fail("sandbox.store", "cannot remove " + relative + ": " + removed->output)
                       : fail(removed.error());
    return {};
}

std::vector<LayerRecord> ImageStore::list() const
{
    std::vector<LayerRecord> records;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(m_folder / "records", error)) {
        const auto json = parseJson(readFile(entry.path()).value_or(""));
        if (!json || !json->is_object())
            continue;
        LayerRecord record;
        record.key = stringOr(*json, "key");
        record.title = stringOr(*json, "title");
        record.bytes = integerOr(*json, "bytes");
        record.builtAt = integerOr(*json, "built_at");
        const auto used = std::chrono::file_clock::to_sys(fs::last_write_time(entry.path(), error));
        record.usedAt =
            std::chrono::duration_cast<std::chrono::milliseconds>(used.time_since_epoch()).count();
        for (const Json& package : (*json)["packages"])
            record.packages.push_back(package.get<std::string>());
        records.push_back(std::move(record));
    }
    std::sort(records.begin(), records.end(),
        [](const LayerRecord& a, const LayerRecord& b) { return a.usedAt > b.usedAt; });
    return records;
}

Result<std::vector<std::string>> ImageStore::collect(const std::vector<std::string>& inUse) const
{
    // A layer is kept with everything it stands on.
    std::set<std::string> kept;
    for (std::string key : inUse) {
        while (!key.empty() && kept.insert(key).second) {
            const auto json = parseJson(readFile(m_folder / "records" / (key + ".json")).value_or("{}"));
            key = json ? stringOr(*json, "parent") : "";
        }
    }
    std::vector<std::string> removed;
    for (const LayerRecord& record : list()) {
        if (kept.contains(record.key))
            continue;
        const BuildLock lock(m_folder / "locks" / record.key);
        std::error_code error;
        fs::remove(m_folder / "records" / (record.key + ".json"), error);
        GB_TRY(removeFolder(layerFolder(record.key)));
        removed.push_back(record.key);
    }
    return removed;
}

} // namespace gb
