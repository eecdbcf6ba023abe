// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "cdispec.h"

#include <algorithm>

#include <sys/stat.h>

namespace gb {
namespace {

Json listIn(const Json& json, const char* name)
{
    const auto found = json.find(name);
    return found != json.end() && found->is_array() ? *found : Json::array();
}

// The source of an edit on the machine that is looked at.
std::string outside(const Json& edit, const char* inside, const fs::path& root)
{
    const std::string given = stringOr(edit, "hostPath", stringOr(edit, inside));
    return (root / fs::path(given).relative_path()).string();
}

template <typename Test>
bool isKind(const std::string& path, Test test)
{
    struct stat info
    { };
    return ::stat(path.c_str(), &info) == 0 && test(info.st_mode);
}

bool isDevice(const std::string& path)
{
    return isKind(path, [](mode_t mode) { return S_ISCHR(mode); });
}

// No sockets: what listens behind one is out here.
bool isFileOrFolder(const std::string& path)
{
    return isKind(path, [](mode_t mode) { return S_ISREG(mode) || S_ISDIR(mode); });
}

std::vector<BindSpec> nodesOf(const Json& edits, const fs::path& root)
{
    std::vector<BindSpec> nodes;
    for (const Json& node : listIn(edits, "deviceNodes")) {
        const std::string source = outside(node, "path", root);
        const std::string path = stringOr(node, "path");
        if (path.starts_with("/dev/") && path.find("..") == std::string::npos && isDevice(source))
            nodes.push_back({source, path, false, true});
    }
    return nodes;
}

// Other names of a library, as the linker's cache on this machine has them.
void addLinksBeside(const std::string& source, const std::string& target, GpuShare& share)
{
    std::error_code error;
    const fs::path library(source);
    for (const auto& entry : fs::directory_iterator(library.parent_path(), error)) {
        std::error_code ignored;
        if (entry.is_symlink(ignored) && entry.path().filename() != library.filename()
            && fs::equivalent(entry.path(), library, ignored))
            share.links.push_back({fs::path(target).filename().string(),
                (fs::path(target).parent_path() / entry.path().filename()).string()});
    }
}

void addFolder(GpuShare& share, const std::string& folder)
{
    if (!folder.empty() && std::ranges::find(share.libraryFolders, folder) == share.libraryFolders.end())
        share.libraryFolders.push_back(folder);
}

void addMounts(const Json& edits, const fs::path& root, GpuShare& share)
{
    for (const Json& mount : listIn(edits, "mounts")) {
        const std::string source = outside(mount, "containerPath", root);
        const std::string target = stringOr(mount, "containerPath");
        if (!target.starts_with('/') || target.find("..") != std::string::npos || !isFileOrFolder(source))
            continue;
        share.files.push_back({source, target});
        if (fs::path(target).filename().string().find(".so") == std::string::npos)
            continue;
        addFolder(share, fs::path(target).parent_path().string());
        addLinksBeside(source, target, share);
    }
}

// The value behind each NAME of a hook's arguments.
std::vector<std::string> valuesOf(const Json& hook, const std::string& name)
{
    std::vector<std::string> values;
    const Json words = listIn(hook, "args");
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i] == name && words[i + 1].is_string())
            values.push_back(words[i + 1].get<std::string>());
    }
    return values;
}

void addLink(const std::string& value, GpuShare& share)
{
    const auto middle = value.find("::");
    if (middle == std::string::npos)
        return;
    LinkSpec link{value.substr(0, middle), value.substr(middle + 2)};
    const bool isKnown =
        std::ranges::any_of(share.links, [&](const LinkSpec& known) { return known.at == link.at; });
    if (link.at.starts_with('/') && link.at.find("..") == std::string::npos && !isKnown)
        share.links.push_back(std::move(link));
}

void addHooks(const Json& edits, GpuShare& share)
{
    for (const Json& hook : listIn(edits, "hooks")) {
        for (const std::string& folder : valuesOf(hook, "--folder"))
            addFolder(share, folder);
        for (const std::string& link : valuesOf(hook, "--link"))
            addLink(link, share);
    }
}

void addEnvironment(const Json& edits, GpuShare& share)
{
    for (const Json& one : listIn(edits, "env")) {
        const std::string text = one.is_string() ? one.get<std::string>() : std::string();
        if (const auto equals = text.find('='); equals != std::string::npos && equals > 0)
            share.environment[text.substr(0, equals)] = text.substr(equals + 1);
    }
}

bool isNumber(const std::string& text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

} // namespace

Result<GpusHere> readCdi(const Json& json, const fs::path& root)
{
    if (!json.is_object() || !stringOr(json, "kind").ends_with("/gpu"))
        return fail("cdi.other", "not a specification of GPUs");
    GpusHere here;
    here.way = GpusHere::Way::Cdi;
    for (const Json& device : listIn(json, "devices")) {
        GpuDevice one{stringOr(device, "name"), {}, nodesOf(objectOr(device, "containerEdits"), root)};
        // "all" stands beside each by itself.
        if (one.name != "all" && !one.nodes.empty())
            here.devices.push_back(std::move(one));
    }
    // The same device is often listed by its number and by its id.
    if (std::ranges::any_of(here.devices, [](const GpuDevice& device) { return isNumber(device.name); }))
        std::erase_if(here.devices, [](const GpuDevice& device) { return !isNumber(device.name); });
    std::ranges::sort(
        here.devices, {}, [](const GpuDevice& device) { return std::pair(device.name.size(), device.name); });
    const Json common = objectOr(json, "containerEdits");
    here.common.devices = nodesOf(common, root);
    addMounts(common, root, here.common);
    addHooks(common, here.common);
    addEnvironment(common, here.common);
    return here;
}

} // namespace gb
