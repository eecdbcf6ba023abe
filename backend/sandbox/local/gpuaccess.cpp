// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "gpuaccess.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include <sys/stat.h>

#include <backend/base/json.h>

#include "cdispec.h"
#include "hostcommand.h"

namespace gb {
namespace {

constexpr const char* libraryFolder = "/usr/local/nvidia/lib";

fs::path below(const fs::path& root, const std::string& path)
{
    return root / fs::path(path).relative_path();
}

std::string lowerCase(std::string text)
{
    std::ranges::transform(text, text.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

std::optional<int> numberIn(std::string_view text)
{
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0 ? std::optional(number)
                                                                                   : std::nullopt;
}

// Inside nobody is in the groups of this machine, so a device has to be open to everybody.
bool isOpenToAll(const std::string& node)
{
    constexpr mode_t readAndWrite = 06;
    struct stat info
    { };
    return ::stat(node.c_str(), &info) == 0 && S_ISCHR(info.st_mode)
        && (info.st_mode & readAndWrite) == readAndWrite;
}

// "Model:" and "Device Minor:" of each card the driver knows.
std::map<int, std::string> modelsByMinor(const fs::path& root)
{
    std::map<int, std::string> models;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(below(root, "/proc/driver/nvidia/gpus"), error)) {
        std::istringstream lines(readFile(entry.path() / "information").value_or(""));
        std::string model;
        std::optional<int> minor;
        for (std::string line; std::getline(lines, line);) {
            const auto colon = line.find(':');
            const auto value = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
            if (value == std::string::npos)
                continue;
            if (line.starts_with("Model"))
                model = line.substr(value);
            else if (line.starts_with("Device Minor"))
                minor = numberIn(line.substr(value));
        }
        if (minor)
            models[*minor] = model;
    }
    return models;
}

constexpr std::string_view cardPrefix = "/dev/nvidia";

void nameModels(GpusHere& here, const fs::path& root)
{
    const auto models = modelsByMinor(root);
    for (GpuDevice& device : here.devices) {
        for (const BindSpec& node : device.nodes) {
            const auto minor = node.target.starts_with(cardPrefix)
                ? numberIn(std::string_view(node.target).substr(cardPrefix.size()))
                : std::nullopt;
            if (const auto found = minor ? models.find(*minor) : models.end(); found != models.end())
                device.model = found->second;
        }
    }
}

void leaveOutClosed(GpusHere& here)
{
    const auto isOpen = [](const GpuDevice& device) {
        return std::ranges::all_of(
            device.nodes, [](const BindSpec& node) { return isOpenToAll(node.source); });
    };
    const std::size_t before = here.devices.size();
    std::erase_if(here.devices, [&](const GpuDevice& device) { return !isOpen(device); });
    if (here.devices.size() < before)
        here.trouble = "a GPU's device files are not open to all users, so no sandbox can use it";
}

std::vector<fs::path> cdiFiles(const fs::path& root, std::initializer_list<std::string_view> endings)
{
    std::vector<fs::path> files;
    // Of two that describe the same device, the later folder's counts.
    for (const char* folder : {"/var/run/cdi", "/etc/cdi"}) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(below(root, folder), error)) {
            if (std::ranges::find(endings, entry.path().extension().string()) != endings.end())
                files.push_back(entry.path());
        }
    }
    std::ranges::sort(files,
        [](const fs::path& a, const fs::path& b) { return a.parent_path() == b.parent_path() && a < b; });
    return files;
}

std::optional<GpusHere> usable(const Result<Json>& json, const std::string& source, const fs::path& root)
{
    auto here = json ? readCdi(*json, root) : Result<GpusHere>(fail(json.error()));
    if (!here || here->devices.empty())
        return std::nullopt;
    here->source = source;
    return std::move(*here);
}

std::optional<GpusHere> fromCdi(const GpuPlaces& places)
{
    for (const fs::path& file : cdiFiles(places.root, {".json"})) {
        if (auto here = usable(parseJson(readFile(file).value_or("")), file.string(), places.root))
            return here;
    }
    const auto others = cdiFiles(places.root, {".yaml", ".yml"});
    if (others.empty())
        return std::nullopt;
    const auto said = runHostCommand({places.cdiTool, "cdi", "generate", "--format=json"}, {});
    if (!said || said->code != 0)
        return std::nullopt;
    return usable(parseJson(said->output), others.front().string(), places.root);
}

void addLibraries(const GpuPlaces& places, GpuShare& share)
{
    static constexpr std::array wanted{"libcuda.so", "libnvidia-ml.so", "libnvidia-ptxjitcompiler.so",
        "libnvidia-nvvm.so", "libnvidia-gpucomp.so", "libcudadebugger.so"};
    const auto said = runHostCommand({places.libraryTool, "-p"}, {});
    std::istringstream lines(said && said->code == 0 ? said->output : "");
    for (std::string line; std::getline(lines, line);) {
        // "\tlibcuda.so.1 (libc6,x86-64) => /usr/lib/…/libcuda.so.1"; without a comma it is one of 32 bits.
        const auto first = line.find_first_not_of(" \t");
        const auto space = first == std::string::npos ? first : line.find(' ', first);
        const auto arrow = line.find(" => ");
        if (space == std::string::npos || arrow == std::string::npos
            || line.substr(space, arrow - space).find(',') == std::string::npos)
            continue;
        const std::string name = line.substr(first, space - first);
        if (std::ranges::none_of(wanted, [&](const char* start) { return name.starts_with(start); }))
            continue;
        std::error_code error;
        const fs::path real = fs::canonical(line.substr(arrow + 4), error);
        const std::string target = std::string(libraryFolder) + "/" + name;
        const bool isKnown =
            std::ranges::any_of(share.files, [&](const BindSpec& file) { return file.target == target; });
        if (!error && !isKnown)
            share.files.push_back({real.string(), target});
    }
    if (!share.files.empty())
        share.libraryFolders = {libraryFolder};
}

GpusHere fromDeviceFiles(const GpuPlaces& places)
{
    GpusHere here;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(below(places.root, "/dev"), error)) {
        const std::string inside = "/dev/" + entry.path().filename().string();
        if (const auto number = inside.starts_with(cardPrefix)
                ? numberIn(std::string_view(inside).substr(cardPrefix.size()))
                : std::nullopt)
            here.devices.push_back(
                {std::to_string(*number), {}, {{entry.path().string(), inside, false, true}}});
    }
    if (here.devices.empty())
        return here;
    std::ranges::sort(
        here.devices, {}, [](const GpuDevice& device) { return std::pair(device.name.size(), device.name); });
    here.way = GpusHere::Way::DeviceFiles;
    for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}) {
        const fs::path path = below(places.root, name);
        if (isOpenToAll(path.string()))
            here.common.devices.push_back({path.string(), name, false, true});
    }
    addLibraries(places, here.common);
    const fs::path program = below(places.root, "/usr/bin/nvidia-smi");
    if (fs::is_regular_file(program, error))
        here.common.files.push_back({program.string(), "/usr/local/bin/nvidia-smi"});
    return here;
}

// As CUDA reads it: what follows one that is not there is not visible either.
std::vector<GpuDevice> visibleOf(
    const std::vector<GpuDevice>& all, const std::map<std::string, std::string>& environment)
{
    const auto set = environment.find("CUDA_VISIBLE_DEVICES");
    if (set == environment.end())
        return all;
    std::vector<GpuDevice> visible;
    std::istringstream words(set->second);
    for (std::string word; std::getline(words, word, ',');) {
        std::erase(word, ' ');
        const auto number = numberIn(word);
        auto found = all.end();
        if (number && static_cast<std::size_t>(*number) < all.size())
            found = all.begin() + *number;
        else if (!number && !word.empty())
            found = std::ranges::find_if(
                all, [&](const GpuDevice& device) { return device.name.starts_with(word); });
        if (found == all.end())
            break;
        visible.push_back(*found);
    }
    return visible;
}

bool isOfType(const GpuDevice& device, const std::string& asked)
{
    std::string type = lowerCase(asked);
    if (type.ends_with('!'))
        type.pop_back();
    return type == "any" || device.model.empty() || lowerCase(device.model).find(type) != std::string::npos;
}

std::string namesOf(const std::vector<GpuDevice>& devices)
{
    std::string names;
    for (const GpuDevice& device : devices)
        names += (names.empty() ? "" : ", ") + (device.model.empty() ? "GPU " + device.name : device.model);
    return names.empty() ? "no GPU" : names;
}

} // namespace

GpusHere findGpus(const GpuPlaces& places)
{
    auto specified = fromCdi(places);
    GpusHere here = specified ? std::move(*specified) : fromDeviceFiles(places);
    nameModels(here, places.root);
    leaveOutClosed(here);
    return here;
}

Result<GpuShare> chooseGpus(
    const GpusHere& here, const SandboxSpec& spec, const std::map<std::string, std::string>& environment)
{
    const std::vector<GpuDevice> visible = visibleOf(here.devices, environment);
    GpuShare share = here.common;
    int count = 0;
    for (const GpuDevice& device : visible) {
        if (count == spec.gpuCount || !isOfType(device, spec.gpu))
            continue;
        share.devices.insert(share.devices.end(), device.nodes.begin(), device.nodes.end());
        ++count;
    }
    if (count == spec.gpuCount)
        return share;
    const std::string trouble = here.trouble.empty() ? "" : " (" + here.trouble + ")";
    const std::string fix = "remove gpu, or ask for what is here";
    return fail("spec.invalid",
        "gpu: this machine has " + namesOf(visible) + " to give" + trouble + ", not "
            + std::to_string(spec.gpuCount) + " × " + spec.gpu + "; " + fix,
        Json{{"field", "gpu"}, {"fix", fix}});
}

} // namespace gb
