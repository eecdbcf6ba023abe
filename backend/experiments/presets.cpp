// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "presets.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

namespace gb {
namespace {

constexpr std::size_t presetLimit = 1U << 20U;
constexpr std::size_t presetsShown = 500;
constexpr std::size_t nameLimit = 100;
constexpr const char* presetEnding = ".json";

// UTF-8, and nothing in it that is not seen or turns what follows around (U+200B…, U+2028…, U+2060…, U+FEFF).
bool isVisibleText(const std::string& text)
{
    const std::string clean = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (clean.find("\xEF\xBF\xBD") != std::string::npos || text.find("\xEF\xBB\xBF") != std::string::npos)
        return false;
    for (auto at = text.find("\xE2"); at != std::string::npos; at = text.find('\xE2', at + 1)) {
        const std::string sign = text.substr(at, 3);
        if ((sign >= "\xE2\x80\x8B" && sign <= "\xE2\x80\x8F")
            || (sign >= "\xE2\x80\xA8" && sign <= "\xE2\x80\xAE")
            || (sign >= "\xE2\x81\xA0" && sign <= "\xE2\x81\xAF"))
            return false;
    }
    return true;
}

// What is a name on every file system and shows as what it is.
bool isName(const std::string& name)
{
    const auto isBad = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20U || byte == 0x7FU || c == '/' || c == '\\';
    };
    return !name.empty() && name.size() <= nameLimit && name.front() != '.' && name.front() != ' '
        && name.back() != ' ' && std::ranges::none_of(name, isBad) && isVisibleText(name);
}

tl::unexpected<Error> badName(const char* parameter, const std::string& name)
{
    return fail("presets.name",
        "a preset's name has 1 to 100 characters, no slash, and does not begin with a dot or a space",
        Json{{"parameter", parameter}, {"name", name}});
}

std::int64_t modifiedMs(const fs::path& file)
{
    std::error_code error;
    const auto at = fs::last_write_time(file, error);
    if (error)
        return 0;
    const auto system = std::chrono::file_clock::to_sys(at);
    return std::chrono::duration_cast<std::chrono::milliseconds>(system.time_since_epoch()).count();
}

Result<Json> argumentsIn(const fs::path& file)
{
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(file, error)))
        return fail("presets.file", "it is not a plain file");
    const auto text = readFile(file, presetLimit);
    if (!text)
        return fail(text.error());
    auto arguments = parseJson(*text);
    if (arguments && !arguments->is_object())
        return fail("presets.file", "it is not a JSON object");
    return arguments;
}

} // namespace

Result<fs::path> Presets::folder(const std::string& function) const
{
    if (!isName(function))
        return badName("fn", function);
    fs::path path = m_experiment;
    for (const auto& part : {std::string("presets"), function}) {
        path /= part;
        std::error_code error;
        const auto status = fs::symlink_status(path, error);
        if (fs::exists(status) && !fs::is_directory(status))
            return fail("presets.folder", path.string() + " is not a folder", Json{{"path", path.string()}});
    }
    return path;
}

Result<fs::path> Presets::file(const std::string& function, const std::string& name) const
{
    auto path = folder(function);
    if (!path)
        return path;
    if (!isName(name))
        return badName("name", name);
    return *path / (name + presetEnding);
}

Result<Json> Presets::list(const std::string& function) const
{
    const auto path = folder(function);
    if (!path)
        return fail(path.error());
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(*path, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().stem().string();
        if (it->path().extension() == presetEnding && isName(name))
            names.push_back(name);
    }
    std::ranges::sort(names);
    names.resize(std::min(names.size(), presetsShown));
    Json all = Json::array();
    for (const std::string& name : names) {
        const fs::path one = *path / (name + presetEnding);
        Json preset{{"name", name}, {"modified", modifiedMs(one)}};
        if (auto arguments = argumentsIn(one))
            preset["arguments"] = std::move(*arguments);
        else
            preset["problem"] = arguments.error().message;
        all.push_back(std::move(preset));
    }
    return all;
}

Result<fs::path> Presets::save(
    const std::string& function, const std::string& name, const Json& arguments, Existing existing) const
{
    auto path = file(function, name);
    if (!path)
        return path;
    std::error_code error;
    if (existing == Existing::Keep && fs::exists(fs::symlink_status(*path, error)))
        return fail("presets.exists", "there is a preset \"" + name + "\" already", Json{{"name", name}});
    const std::string text = arguments.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (text.size() > presetLimit)
        return fail("params.value", "a preset of over 1 MiB is not saved", Json{{"parameter", "arguments"}});
    fs::create_directories(path->parent_path(), error);
    if (error)
        return failErrno("cannot create", path->parent_path().string(), error.value());
    GB_TRY(writeFileAtomic(*path, text));
    return path;
}

Status Presets::rename(const std::string& function, const std::string& from, const std::string& to) const
{
    const auto before = file(function, from);
    const auto after = file(function, to);
    if (!before || !after)
        return fail(before ? after.error() : before.error());
    std::error_code error;
    if (fs::exists(fs::symlink_status(*after, error)))
        return fail("presets.exists", "there is a preset \"" + to + "\" already", Json{{"name", to}});
    fs::rename(*before, *after, error);
    return error ? Status(failErrno("cannot rename", before->string(), error.value())) : Status();
}

Status Presets::remove(const std::string& function, const std::string& name) const
{
    const auto path = file(function, name);
    if (!path)
        return fail(path.error());
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(*path, error)))
        fs::remove(*path, error);
    return error ? Status(failErrno("cannot delete", path->string(), error.value())) : Status();
}

} // namespace gb
