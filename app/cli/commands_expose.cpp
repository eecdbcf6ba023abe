// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include <unistd.h>

#include <backend/base/files.h>
#include <rpc/exposure/exposure.h>
#include <rpc/mcpproxy/proxy.h>

#include "command.h"
#include "session.h"

namespace gb::cli {
namespace {

std::vector<std::string> commaSeparated(const std::string& text)
{
    std::vector<std::string> parts;
    for (std::string_view rest = text; !rest.empty();) {
        const auto comma = rest.find(',');
        if (const std::string_view part = rest.substr(0, comma); !part.empty())
            parts.emplace_back(part);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return parts;
}

// A prompt without a folder for it is text to look at or to pass on: no file with a token can lie beside it.
bool isOnlyShown(const Arguments& arguments, const rpc::ExposeSpec& spec, bool isJson)
{
    return spec.as == rpc::ExposeAs::Prompt && !arguments.has("--out") && !isJson;
}

// A host by its address and a token the person has: no daemon is asked, and the token is passed on as it is.
Result<Json> exposeByUrl(const Arguments& arguments, rpc::ExposeSpec spec, bool onlyShown)
{
    const std::string file = arguments.value("--token-file");
    if (file.empty())
        return fail("usage", "a host given by its URL needs --token-file");
    auto token = readFile(file, 4096);
    if (!token)
        return fail(token.error());
    token->erase(token->find_last_not_of(" \r\n") + 1);
    spec.url = arguments.positional().front();
    while (spec.url.ends_with('/'))
        spec.url.pop_back();
    const auto schema = rpc::fetchSchema({spec.url, {}, *token});
    if (!schema)
        return fail(schema.error());
    if (!onlyShown)
        spec.token = *token;
    const auto exposure = rpc::expose(*schema, spec);
    return exposure ? Result<Json>(exposure->toJson()) : fail(exposure.error());
}

Result<Json> exposeByName(const Arguments& arguments, const rpc::ExposeSpec& spec, bool onlyShown)
{
    Json params{{"interface", arguments.positional().front()}, {"form", rpc::nameOf(spec.as)}};
    if (!spec.name.empty())
        params["name"] = spec.name;
    if (!spec.functions.empty())
        params["functions"] = spec.functions;
    if (arguments.has("--for"))
        params["caller"] = arguments.value("--for");
    if (onlyShown)
        params["preview"] = true;
    for (const auto& [option, key] :
        {std::pair("--max-calls", "max_calls"), {"--calls-per-minute", "calls_per_minute"}}) {
        const auto number = arguments.integer(option, 0);
        if (!number)
            return fail(number.error());
        if (*number > 0)
            params[key] = *number;
    }
    Session session;
    auto answer = session.call("interfaces.expose", std::move(params));
    return answer ? Result<Json>(std::move(answer->body)) : fail(answer.error());
}

rpc::Exposure readExposure(const Json& json)
{
    rpc::Exposure exposure;
    for (const Json& file : json.value("files", Json::array()))
        exposure.files.push_back(
            {stringOr(file, "path"), stringOr(file, "text"), boolOr(file, "private") ? 0600U : 0644U});
    return exposure;
}

// The stdio configuration names the access file; clients start the command anywhere, so the name is absolute.
void makeAbsolute(rpc::Exposure& exposure, const fs::path& folder)
{
    for (rpc::TextFile& file : exposure.files) {
        auto json = file.path.ends_with(".mcp-stdio.json") ? parseJson(file.text) : Result<Json>(Json());
        if (!json || !json->contains("mcpServers"))
            continue;
        for (Json& server : (*json)["mcpServers"]) {
            Json& name = server["args"].back();
            name = (fs::absolute(folder) / name.get<std::string>()).string();
        }
        file.text = json->dump(2) + "\n";
    }
}

int expose(const Arguments& arguments, Console& console)
{
    const auto as = rpc::exposeAs(arguments.value("--as", "library"));
    if (arguments.positional().size() != 1 || !as)
        return console.fail(Error{
            "usage", "give an interface (see: glovebox interfaces) and --as library, mcp, prompt or skill"});
    rpc::ExposeSpec spec;
    spec.as = *as;
    spec.name = arguments.value("--name");
    spec.functions = commaSeparated(arguments.value("--functions"));
    const std::string& what = arguments.positional().front();
    const bool isUrl = what.starts_with("http://") || what.starts_with("https://");
    const bool onlyShown = isOnlyShown(arguments, spec, console.json());
    const auto exposed =
        isUrl ? exposeByUrl(arguments, spec, onlyShown) : exposeByName(arguments, spec, onlyShown);
    if (!exposed)
        return console.fail(exposed.error());
    if (onlyShown) {
        console.out(stringOr(*exposed, "text"));
        return Done;
    }
    const fs::path folder = arguments.value("--out", ".");
    rpc::Exposure exposure = readExposure(*exposed);
    makeAbsolute(exposure, folder);
    if (const Status written = rpc::writeExposure(exposure, folder); !written)
        return console.fail(written.error());
    Json files = Json::array();
    for (const rpc::TextFile& file : exposure.files)
        files.push_back((folder / file.path).lexically_normal().string());
    if (console.json()) {
        console.print(Json{{"form", rpc::nameOf(*as)}, {"files", files},
            {"functions", exposed->value("functions", Json())}, {"tokens", integerOr(*exposed, "tokens")},
            {"token_id", stringOr(*exposed, "token_id")}});
        return Done;
    }
    for (const Json& file : files)
        console.out(file.get<std::string>() + "\n");
    console.note("about " + std::to_string(integerOr(*exposed, "tokens")) + " tokens of an agent's context");
    return Done;
}

int mcpProxy(const Arguments& arguments, Console& console)
{
    if (!arguments.has("--host-file"))
        return console.fail(Error{"usage", "give --host-file, as written by: glovebox expose NAME --as mcp"});
    const Status done = rpc::runMcpProxy(arguments.value("--host-file"), STDIN_FILENO, STDOUT_FILENO);
    return done ? Done : console.fail(done.error());
}

} // namespace

std::vector<Command> exposeCommands()
{
    return {
        {"expose", "NAME|URL --as FORM", "Give an interface to an agent or a script, with a token of its own",
            {{"--as", "FORM", "library, mcp, prompt or skill (library)"},
                {"--name", "N", "another name than the interface's"},
                {"--out", "DIR", "where to write (here)"}, {"--functions", "A,B", "only these functions"},
                {"--for", "WHO", "agent (sees no paths of this machine) or script"},
                {"--max-calls", "N", "how often it may call at all"},
                {"--calls-per-minute", "N", "how often it may call in a minute"},
                {"--token-file", "F", "the token, when the host is given by its URL"}},
            expose},
        {"mcp-proxy", "--host-file F", "Speak MCP on standard streams for a client that wants a command",
            {{"--host-file", "F", "NAME.host.json beside the configuration"}}, mcpProxy},
    };
}

} // namespace gb::cli
