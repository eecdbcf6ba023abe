// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "plan.h"

#include <algorithm>
#include <map>
#include <set>

#include <fnmatch.h>

namespace gb::hub {
namespace {

bool endsWithAny(std::string_view text, std::initializer_list<std::string_view> ends)
{
    return std::ranges::any_of(ends, [&](std::string_view end) { return text.ends_with(end); });
}

std::string_view baseName(std::string_view path)
{
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

enum class Format { None, Safetensors, Torch, Gguf, Other };

// An index belongs to its weights: pytorch_model.bin.index.json without them would mislead a loader.
Format formatOf(std::string_view path)
{
    if (endsWithAny(path, {".safetensors", ".safetensors.index.json"}))
        return Format::Safetensors;
    if (endsWithAny(path, {".bin", ".bin.index.json", ".pt", ".pth", ".ckpt"}))
        return path.starts_with("openvino/") || baseName(path).starts_with("openvino_") ? Format::Other
                                                                                        : Format::Torch;
    if (endsWithAny(path, {".gguf"}))
        return Format::Gguf;
    if (endsWithAny(path,
            {".h5", ".h5.index.json", ".msgpack", ".msgpack.index.json", ".onnx", ".onnx_data", ".onnx.data",
                ".tflite", ".ot", ".mlmodel", ".pb", ".weights"})
        || path.starts_with("openvino/") || path.find(".mlpackage/") != std::string_view::npos)
        return Format::Other;
    return Format::None;
}

bool matchesAny(const std::string& path, const std::vector<std::string>& patterns)
{
    return std::ranges::any_of(patterns, [&](const std::string& pattern) {
        const std::string whole = pattern.ends_with('/') ? pattern + "*" : pattern;
        return ::fnmatch(whole.c_str(), path.c_str(), 0) == 0;
    });
}

// "…-00001-of-00003.gguf" and its siblings are one.
std::string ggufGroup(const std::string& path)
{
    const auto of = path.rfind("-of-");
    if (of == std::string::npos || of < 6)
        return path;
    return path.substr(0, of - 6);
}

std::string chosenGguf(const std::vector<RemoteFile>& files)
{
    std::map<std::string, std::uint64_t> groups;
    for (const RemoteFile& file : files) {
        if (formatOf(file.path) == Format::Gguf)
            groups[ggufGroup(file.path)] += file.size;
    }
    for (const std::string_view wanted : {"Q4_K_M", "q4_k_m", "Q8_0", "q8_0"}) {
        for (const auto& [group, bytes] : groups) {
            if (group.find(wanted) != std::string::npos)
                return group;
        }
    }
    const auto smallest =
        std::ranges::min_element(groups, {}, [](const auto& group) { return group.second; });
    return smallest == groups.end() ? std::string() : smallest->first;
}

// model.fp16.safetensors beside model.safetensors, consolidated.safetensors beside the ones transformers
// reads.
bool isSecondCopy(const std::string& path, const std::set<std::string>& paths, bool hasModelFiles)
{
    const std::string_view name = baseName(path);
    if (hasModelFiles && name.starts_with("consolidated"))
        return true;
    const auto first = name.find('.');
    const auto second = first == std::string_view::npos ? first : name.find('.', first + 1);
    if (second == std::string_view::npos || name.ends_with(".json"))
        return false;
    const std::string plain = path.substr(0, path.size() - name.size()) + std::string(name.substr(0, first))
        + std::string(name.substr(second));
    return paths.contains(plain);
}

std::vector<RemoteFile> chooseWeights(const std::vector<RemoteFile>& listing)
{
    std::set<Format> formats;
    std::set<std::string> paths;
    bool hasModelFiles = false;
    for (const RemoteFile& file : listing) {
        formats.insert(formatOf(file.path));
        paths.insert(file.path);
        hasModelFiles =
            hasModelFiles || (file.path.starts_with("model") && file.path.ends_with(".safetensors"));
    }
    Format best = Format::None;
    for (const Format format : {Format::Other, Format::Gguf, Format::Torch, Format::Safetensors}) {
        if (formats.contains(format))
            best = format;
    }
    const std::string gguf = best == Format::Gguf ? chosenGguf(listing) : std::string();
    std::vector<RemoteFile> chosen;
    for (const RemoteFile& file : listing) {
        const Format format = formatOf(file.path);
        const bool isWanted = format == Format::None
            || (format == best && !isSecondCopy(file.path, paths, hasModelFiles)
                && (format != Format::Gguf || ggufGroup(file.path) == gguf));
        if (isWanted)
            chosen.push_back(file);
    }
    return chosen;
}

} // namespace

Json FileChoice::toJson() const
{
    return Json{{"include", include}, {"exclude", exclude}};
}

FileChoice FileChoice::fromJson(const Json& json)
{
    const auto strings = [&](const char* key) {
        std::vector<std::string> list;
        if (!json.is_object() || !json.contains(key) || !json[key].is_array())
            return list;
        for (const Json& item : json[key]) {
            if (item.is_string())
                list.push_back(item.get<std::string>());
        }
        return list;
    };
    return {strings("include"), strings("exclude")};
}

std::vector<std::string> Plan::leftOut() const
{
    std::set<std::string> chosen;
    for (const RemoteFile& file : files)
        chosen.insert(file.path);
    std::vector<std::string> rest;
    for (const RemoteFile& file : listing) {
        if (!chosen.contains(file.path))
            rest.push_back(file.path);
    }
    return rest;
}

std::vector<RemoteFile> choose(const std::vector<RemoteFile>& listing, const FileChoice& choice)
{
    std::vector<RemoteFile> chosen = choice.include.empty() ? chooseWeights(listing) : listing;
    std::erase_if(chosen, [&](const RemoteFile& file) {
        return (!choice.include.empty() && !matchesAny(file.path, choice.include))
            || matchesAny(file.path, choice.exclude);
    });
    return chosen;
}

Result<Plan> makePlan(const HubClient& client, const ModelName& name, const FileChoice& choice)
{
    auto model = client.resolve(name);
    if (!model)
        return fail(model.error());
    auto listing = client.tree(*model);
    if (!listing)
        return fail(listing.error());
    Plan plan{std::move(*model), std::move(*listing), {}, 0};
    plan.files = choose(plan.listing, choice);
    if (plan.files.empty())
        return fail("hub.nothing_chosen", "no file of " + plan.model.repo + " matches");
    std::set<std::string> contents;
    for (const RemoteFile& file : plan.files) {
        if (contents.insert(file.etag()).second)
            plan.bytes += file.size;
    }
    // The smallest file stands for all: what a gated model refuses, it refuses for each of them.
    const auto smallest = std::ranges::min_element(plan.files, {}, &RemoteFile::size);
    GB_TRY(client.checkAccess(plan.model, *smallest));
    return plan;
}

} // namespace gb::hub
