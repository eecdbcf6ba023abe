// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "exposure.h"

#include <array>
#include <utility>

#include <backend/base/files.h>

#include "library.h"
#include "prompt.h"
#include "tokens.h"
#include "tools.h"

namespace gb::rpc {
namespace {

constexpr std::array<std::pair<std::string_view, ExposeAs>, 4> forms{{{"library", ExposeAs::Library},
    {"mcp", ExposeAs::Mcp}, {"prompt", ExposeAs::Prompt}, {"skill", ExposeAs::Skill}}};

// The file a library, a skill or the stdio proxy finds its host by.
std::string accessText(const ExposeSpec& spec)
{
    Json access = Json::object();
    if (!spec.url.empty())
        access["url"] = spec.url;
    if (!spec.socket.empty())
        access["socket"] = spec.socket;
    access["token"] = spec.token;
    return access.dump(1) + "\n";
}

void exposeLibrary(
    Exposure& exposure, const ExposeSpec& spec, const Json& schema, const std::vector<Function>& functions)
{
    const std::string module = libraryModule(exposure.name);
    exposure.text = libraryText(exposure.name, stringOr(schema, "doc"), functions);
    exposure.files.push_back({module + ".py", exposure.text});
    if (!spec.token.empty())
        exposure.files.push_back({module + ".host.json", accessText(spec), 0600});
    // An agent that uses it reads the definitions, hardly ever the constant part.
    exposure.tokens = estimateTokens(exposure.text) - estimateTokens(libraryRuntime());
}

void exposeMcp(Exposure& exposure, const ExposeSpec& spec, const std::vector<Function>& functions)
{
    const std::string name = skillName(exposure.name);
    if (!spec.url.empty()) {
        Json server{{"type", "http"}, {"url", spec.url + "/mcp"}};
        if (!spec.token.empty())
            server["headers"] = Json{{"Authorization", "Bearer " + spec.token}};
        exposure.text = Json{{"mcpServers", Json{{name, server}}}}.dump(2) + "\n";
        exposure.files.push_back({name + ".mcp.json", exposure.text, 0600});
    }
    if (!spec.token.empty()) {
        const std::string access = name + ".host.json";
        const Json server{{"type", "stdio"}, {"command", "glovebox"},
            {"args", Json::array({"mcp-proxy", "--host-file", access})}};
        exposure.files.push_back({access, accessText(spec), 0600});
        exposure.files.push_back(
            {name + ".mcp-stdio.json", Json{{"mcpServers", Json{{name, server}}}}.dump(2) + "\n"});
    }
    for (const Tool& tool : toolsOf(functions))
        exposure.tokens +=
            estimateTokens(tool.description.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void exposePrompt(
    Exposure& exposure, const ExposeSpec& spec, const Json& schema, const std::vector<Function>& functions)
{
    const std::string stem = libraryModule(exposure.name);
    const std::string header = stem + ".header";
    exposure.text = promptText(exposure.name, stringOr(schema, "doc"), functions, "");
    if (!spec.token.empty()) {
        exposure.text += callingText(functions, spec.url, spec.socket, header);
        exposure.files.push_back({header, "Authorization: Bearer " + spec.token + "\n", 0600});
    }
    exposure.tokens = estimateTokens(exposure.text);
    exposure.files.insert(exposure.files.begin(), {stem + ".md", exposure.text});
}

void exposeSkill(
    Exposure& exposure, const ExposeSpec& spec, const Json& schema, const std::vector<Function>& functions)
{
    const std::string folder = skillName(exposure.name) + "/";
    for (TextFile& file : skillFiles(exposure.name, stringOr(schema, "doc"), functions)) {
        if (file.path == "SKILL.md") {
            exposure.text = file.text;
            exposure.tokens = estimateTokens(file.text);
        }
        file.path.insert(0, folder);
        exposure.files.push_back(std::move(file));
    }
    if (!spec.token.empty())
        exposure.files.push_back(
            {folder + "scripts/" + libraryModule(exposure.name) + ".host.json", accessText(spec), 0600});
}

} // namespace

std::optional<ExposeAs> exposeAs(std::string_view text)
{
    for (const auto& [name, as] : forms) {
        if (name == text)
            return as;
    }
    return std::nullopt;
}

std::string_view nameOf(ExposeAs as)
{
    for (const auto& [name, form] : forms) {
        if (form == as)
            return name;
    }
    return {};
}

Json Exposure::toJson() const
{
    Json list = Json::array();
    for (const TextFile& file : files)
        list.push_back(Json{{"path", file.path}, {"text", file.text}, {"private", file.mode == 0600}});
    return Json{{"form", nameOf(as)}, {"name", name}, {"functions", functions}, {"tokens", tokens},
        {"text", text}, {"files", list}};
}

Result<Exposure> expose(const Json& schema, const ExposeSpec& spec)
{
    auto functions = functionsOf(schema, spec.functions);
    if (!functions)
        return fail(std::move(functions).error());
    Exposure exposure;
    exposure.as = spec.as;
    exposure.name = spec.name.empty() ? stringOr(schema, "name", "interface") : spec.name;
    for (const Function& function : *functions)
        exposure.functions.push_back(function.name);
    switch (spec.as) {
    case ExposeAs::Library:
        exposeLibrary(exposure, spec, schema, *functions);
        break;
    case ExposeAs::Mcp:
        exposeMcp(exposure, spec, *functions);
        break;
    case ExposeAs::Prompt:
        exposePrompt(exposure, spec, schema, *functions);
        break;
    case ExposeAs::Skill:
        exposeSkill(exposure, spec, schema, *functions);
        break;
    }
    return exposure;
}

Status writeExposure(const Exposure& exposure, const std::filesystem::path& folder)
{
    for (const TextFile& file : exposure.files) {
        const fs::path path = folder / file.path;
        std::error_code error;
        fs::create_directories(path.parent_path(), error);
        if (error)
            return failErrno("cannot create", path.parent_path().string(), error.value());
        GB_TRY(writeFileAtomic(path, file.text, file.mode));
    }
    return {};
}

} // namespace gb::rpc
