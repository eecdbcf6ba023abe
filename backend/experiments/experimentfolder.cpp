// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "experimentfolder.h"

#include <algorithm>

#include <toml++/toml.h>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/paths.h>

namespace gb {
namespace {

constexpr const char* experimentFile = "experiment.toml";
constexpr std::size_t fileLimit = 4U << 20U;
constexpr std::size_t recentKept = 100;

tl::unexpected<Error> broken(const fs::path& file, std::string_view why)
{
    return fail("experiments.broken", file.string() + ": " + std::string(why),
        Json{{"file", file.string()}, {"reason", why}});
}

Result<toml::table> parseToml(const fs::path& file, const std::string& text)
{
    try {
        return toml::parse(std::string_view(text));
    } catch (const toml::parse_error& error) {
        return broken(file, error.description());
    }
}

// Text of a TOML basic string.
std::string tomlString(const std::string& text)
{
    // JSON's escapes are a subset of TOML's.
    return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<std::vector<fs::path>> exampleFiles(const std::string& example)
{
    std::vector<fs::path> files;
    if (example.empty())
        return files;
    const auto all = examples();
    const auto found = std::ranges::find(all, example, &ExampleInfo::name);
    if (found == all.end())
        return fail(
            "experiments.no_example", "there is no example called " + example, Json{{"example", example}});
    std::error_code error;
    for (fs::directory_iterator it(found->folder, error), end; !error && it != end; it.increment(error)) {
        if (it->is_regular_file() && it->path().filename() != "example.json")
            files.push_back(it->path());
    }
    return files;
}

Status copyNew(const std::vector<fs::path>& files, const fs::path& folder)
{
    for (const fs::path& file : files) {
        const fs::path target = folder / file.filename();
        if (fs::exists(fs::symlink_status(target)))
            return fail(
                "experiments.exists", target.string() + " is there already", Json{{"file", target.string()}});
    }
    for (const fs::path& file : files) {
        const auto text = readFile(file, fileLimit);
        if (!text)
            return fail(text.error());
        GB_TRY(writeFileAtomic(folder / file.filename(), *text));
    }
    return {};
}

} // namespace

Json Experiment::toJson() const
{
    return Json{{"id", id}, {"path", folder.string()}, {"name", name}, {"has_interface", hasInterface},
        {"has_task", hasTask}};
}

Result<Experiment> openExperiment(const fs::path& folder)
{
    if (!folder.is_absolute())
        return fail(
            "experiments.path", "the folder must be an absolute path", Json{{"path", folder.string()}});
    const fs::path file = folder / experimentFile;
    const auto text = readFile(file, fileLimit);
    if (!text && text.error().code == "io.not_found")
        return fail("experiments.none", folder.string() + " is not an experiment (it has no experiment.toml)",
            Json{{"path", folder.string()}});
    if (!text)
        return fail(text.error());
    const auto table = parseToml(file, *text);
    if (!table)
        return fail(table.error());
    Experiment experiment;
    experiment.id = (*table)["id"].value_or(std::string());
    experiment.name = (*table)["name"].value_or(folder.filename().string());
    if (!isId(experiment.id))
        return broken(file, "id must be a UUID");
    experiment.folder = folder;
    std::error_code ignored;
    experiment.hasInterface = fs::exists(folder / "interface.py", ignored);
    experiment.hasTask = fs::exists(folder / "task.md", ignored);
    return experiment;
}

Result<Experiment> newExperiment(const fs::path& folder, const std::string& id, const std::string& example)
{
    if (!folder.is_absolute() || folder.lexically_normal().filename().empty())
        return fail(
            "experiments.path", "the folder must be an absolute path", Json{{"path", folder.string()}});
    if (auto present = openExperiment(folder)) {
        if (present->id == id)
            return present;
        return fail("experiments.exists", folder.string() + " is an experiment already",
            Json{{"path", folder.string()}});
    } else if (present.error().code != "experiments.none") {
        return present;
    }
    const auto files = exampleFiles(example);
    if (!files)
        return fail(files.error());
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return failErrno("cannot create folder", folder.string(), error.value());
    GB_TRY(copyNew(*files, folder));
    const std::string text = "id = " + tomlString(id) + "\nname = " + tomlString(folder.filename().string())
        + "\ncreated = " + isoUtc(wallMs()) + "\n";
    // Last: a folder with this file is complete.
    GB_TRY(writeFileAtomic(folder / experimentFile, text));
    return openExperiment(folder);
}

std::vector<ExampleInfo> examples()
{
    std::vector<ExampleInfo> all;
    std::error_code error;
    for (fs::directory_iterator it(shareFolder() / "examples", error), end; !error && it != end;
         it.increment(error)) {
        if (fs::exists(it->path() / "interface.py"))
            all.push_back({it->path().filename().string(), it->path()});
    }
    std::ranges::sort(all, {}, &ExampleInfo::name);
    return all;
}

Status RecentExperiments::add(const Experiment& experiment) const
{
    auto known = list();
    Json kept = Json::array();
    kept.push_back(Json{{"id", experiment.id}, {"path", experiment.folder.string()},
        {"name", experiment.name}, {"opened_at", wallMs()}});
    for (Json& one : *known) {
        one.erase("exists");
        if (stringOr(one, "path") != experiment.folder.string() && kept.size() < recentKept)
            kept.push_back(std::move(one));
    }
    return writeFileAtomic(m_file, Json{{"experiments", std::move(kept)}}.dump(1) + "\n", 0600);
}

Result<Json> RecentExperiments::list() const
{
    Json all = Json::array();
    const auto text = readFile(m_file, fileLimit);
    const auto stored = text ? parseJson(*text) : Result<Json>(Json::object());
    // A list that cannot be read is only a list: it starts again.
    const auto entries = stored && stored->is_object() ? stored->find("experiments") : Json::const_iterator();
    if (!stored || !stored->is_object() || entries == stored->end() || !entries->is_array())
        return all;
    for (const Json& entry : *entries) {
        Json one = entry;
        std::error_code ignored;
        one["exists"] = fs::exists(fs::path(stringOr(entry, "path")) / experimentFile, ignored);
        all.push_back(std::move(one));
    }
    return all;
}

} // namespace gb
