// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "endpoint.h"

#include <algorithm>

#include <backend/base/nearest.h>
#include <backend/base/version.h>
#include <rpc/exposure/rawjson.h>

#include "content.h"
#include "message.h"

namespace gb::rpc {
namespace {

constexpr std::string_view jsonType = "application/json";
constexpr std::size_t mostInBatch = 50;

} // namespace

// Answers of a batch are gathered until the last one is there.
struct McpEndpoint::Batch
{
    McpAnswerPtr answer;
    std::vector<std::string> texts;
    std::size_t open = 0;
    std::vector<std::string> calls;

    void put(std::string text)
    {
        if (!text.empty())
            texts.push_back(std::move(text));
        if (--open > 0)
            return;
        if (texts.empty())
            return answer->reply(202, {}, {});
        std::string whole;
        for (const std::string& one : texts)
            whole += (whole.empty() ? "[" : ",") + one;
        answer->reply(200, jsonType, whole + "]");
    }
};

struct McpEndpoint::Message
{
    McpRequest request;
    Json json;
    Json id; // null: a notification
    McpDialect dialect;
    McpAnswerPtr answer;
    std::shared_ptr<Batch> batch;
    bool streaming = false;
    double shown = -1; // progress told last; it has to grow

    void send(int status, std::string text)
    {
        if (batch)
            return batch->put(std::move(text));
        const std::string_view type = text.empty() ? std::string_view() : jsonType;
        if (!streaming)
            return answer->reply(status, type, std::move(text));
        answer->write(mcpEvent(text));
        answer->endStream();
    }
    void succeed(std::string_view result) { send(200, mcpResult(id, result)); }
    void fail(const McpError& error) { send(error.status, mcpFailure(id, error)); }
    std::string key() const { return request.caller + "\n" + mcpText(id); }
};

McpEndpoint::McpEndpoint(McpHost& host) : m_host(host) { }
McpEndpoint::~McpEndpoint() = default;

void McpEndpoint::handle(const McpRequest& request, const McpAnswerPtr& answer)
{
    auto parsed = parseJson(request.body);
    if (!parsed)
        return answer->reply(400, jsonType, mcpFailure(nullptr, {400, -32700, parsed.error().message, {}}));
    if (parsed->is_array())
        return handleBatch(request, *parsed, answer);
    auto message = std::make_shared<Message>();
    message->request = request;
    message->json = std::move(*parsed);
    message->answer = answer;
    handleOne(message);
}

void McpEndpoint::handleBatch(const McpRequest& request, const Json& list, const McpAnswerPtr& answer)
{
    // Only the oldest of our protocols has batches.
    const bool allowed = request.protocolVersion.empty() || request.protocolVersion == "2025-03-26";
    if (!allowed || list.empty() || list.size() > mostInBatch)
        return answer->reply(
            400, jsonType, mcpFailure(nullptr, {400, -32600, "a batch is not accepted here", {}}));
    auto batch = std::make_shared<Batch>();
    batch->answer = answer;
    batch->open = list.size();
    const auto texts = rawMembers(request.body);
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto message = std::make_shared<Message>();
        message->request = request;
        message->request.body = std::string(texts[i].second);
        message->json = list[i];
        message->answer = answer;
        message->batch = batch;
        handleOne(message);
    }
}

void McpEndpoint::handleOne(const MessagePtr& message)
{
    const Json& json = message->json;
    const auto id = json.is_object() ? json.find("id") : json.end();
    if (json.is_object() && id != json.end() && (id->is_string() || id->is_number_integer()))
        message->id = *id;
    if (!json.is_object() || stringOr(json, "jsonrpc") != "2.0"
        || (id != json.end() && message->id.is_null()))
        return message->fail({400, -32600, "not a message of JSON-RPC 2.0", {}});
    // Answers to requests of ours; we make none.
    if (!json.contains("method") && (json.contains("result") || json.contains("error")))
        return message->send(202, {});
    if (stringOr(json, "method").empty())
        return message->fail({400, -32600, "the message has no method", {}});
    if (json.contains("params") && !json["params"].is_object())
        return message->fail({400, -32602, "params must be an object", {}});
    const auto dialect = readDialect(message->request, json);
    if (!dialect)
        return message->fail(dialect.error());
    message->dialect = *dialect;
    dispatch(message);
}

void McpEndpoint::dispatch(const MessagePtr& message)
{
    const std::string method = stringOr(message->json, "method");
    const bool stateless = message->dialect.stateless;
    if (message->id.is_null()) {
        if (method == "notifications/cancelled" && !stateless)
            cancelRequested(*message);
        return message->send(202, {});
    }
    if (method == "tools/call")
        return callTool(message);
    if (const Status loaded = loadTools(); !loaded && method != "ping")
        return message->fail({stateless ? 503 : 200, -32603, loaded.error().message, {}});
    const Json about{{"name", m_name}, {"version", std::string(version())}};
    const Json abilities{{"tools", Json{{"listChanged", false}}}};
    if (method == "tools/list")
        return listTools(message);
    if (method == "server/discover" && stateless) {
        Json result{{"supportedVersions", knownMcpVersions()}, {"capabilities", abilities},
            {"resultType", "complete"}, {"ttlMs", 0}, {"cacheScope", "private"},
            {"_meta", Json{{"io.modelcontextprotocol/serverInfo", about}}}};
        if (!m_about.empty())
            result["instructions"] = m_about;
        return message->succeed(mcpText(result));
    }
    if (method == "initialize" && !stateless) {
        const std::string wanted = stringOr(objectOr(message->json, "params"), "protocolVersion");
        const bool known = isKnownMcpVersion(wanted) && wanted != newestMcp;
        Json result{{"protocolVersion", known ? wanted : std::string(newestSessionMcp)},
            {"capabilities", abilities}, {"serverInfo", about}};
        if (!m_about.empty())
            result["instructions"] = m_about;
        return message->succeed(mcpText(result));
    }
    if (method == "ping" && !stateless)
        return message->succeed("{}");
    message->fail({stateless ? 404 : 200, -32601, "there is no method " + method, {}});
}

void McpEndpoint::listTools(const MessagePtr& message)
{
    Json list = Json::array();
    for (const Tool& tool : m_tools) {
        if (m_host.mayCall(message->request.caller, tool.function.name))
            list.push_back(tool.description);
    }
    Json result{{"tools", std::move(list)}};
    if (message->dialect.stateless) {
        result["resultType"] = "complete";
        result["ttlMs"] = 0;
        result["cacheScope"] = "private";
    }
    message->succeed(mcpText(result));
}

std::string McpEndpoint::unknownTool(std::string_view caller, const std::string& name) const
{
    std::vector<std::string> names;
    for (const Tool& tool : m_tools) {
        if (m_host.mayCall(caller, tool.function.name))
            names.push_back(tool.name);
    }
    return "there is no tool " + name.substr(0, 100) + namesHint(name, names);
}

void McpEndpoint::callTool(const MessagePtr& message)
{
    if (const Status loaded = loadTools(); !loaded)
        return message->fail({message->dialect.stateless ? 503 : 200, -32603, loaded.error().message, {}});
    const int badParams = message->dialect.stateless ? 400 : 200;
    const Json params = objectOr(message->json, "params");
    const std::string name = stringOr(params, "name");
    const auto tool = std::find_if(
        m_tools.begin(), m_tools.end(), [&name](const Tool& known) { return known.name == name; });
    if (tool == m_tools.end() || !m_host.mayCall(message->request.caller, tool->function.name))
        return message->fail({badParams, -32602, unknownTool(message->request.caller, name), {}});
    if (params.contains("arguments") && !params["arguments"].is_object())
        return message->fail({badParams, -32602, "arguments must be an object", {}});

    // The arguments travel as the text they came as: no digit of a number is lost.
    const std::string_view raw = rawMember(rawMember(message->request.body, "params"), "arguments");
    const auto finish = [this, message, tool = *tool](const McpOutcome& outcome) {
        m_running.erase(message->key());
        message->succeed(toolResult(tool, outcome, message->dialect.stateless));
    };
    auto arguments = toolArguments(*tool, raw);
    if (!arguments)
        return finish({{}, Json{{"kind", "bad_arguments"}, {"message", arguments.error().message}}});
    McpListener listener{
        [this, message](const McpProgress& progress) { showProgress(message, progress); }, finish};
    const auto call =
        m_host.call(message->request.caller, tool->function.name, std::move(*arguments), std::move(listener));
    if (!call)
        return finish({{}, Json{{"kind", call.error().code}, {"message", call.error().message}}});
    m_running[message->key()] = *call;
    if (message->batch)
        message->batch->calls.push_back(*call);
    const std::vector<std::string> calls = message->batch ? message->batch->calls : std::vector{*call};
    message->answer->onGone([this, calls] {
        for (const std::string& id : calls)
            m_host.cancel(id);
    });
}

void McpEndpoint::showProgress(const MessagePtr& message, const McpProgress& progress)
{
    const Json meta = objectOr(objectOr(message->json, "params"), "_meta");
    const auto token = meta.find("progressToken");
    if (token == meta.end() || message->batch || !message->request.acceptsStream
        || progress.done <= message->shown)
        return;
    message->shown = progress.done;
    if (!message->streaming) {
        message->streaming = true;
        message->answer->beginStream();
    }
    Json params{{"progressToken", *token}, {"progress", progress.done}};
    if (progress.total)
        params["total"] = *progress.total;
    if (!progress.message.empty())
        params["message"] = progress.message;
    message->answer->write(mcpEvent(
        mcpText(Json{{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", params}})));
}

void McpEndpoint::cancelRequested(const Message& message)
{
    const Json params = objectOr(message.json, "params");
    if (!params.contains("requestId"))
        return;
    const auto running = m_running.find(message.request.caller + "\n" + mcpText(params["requestId"]));
    if (running != m_running.end())
        m_host.cancel(running->second);
}

Status McpEndpoint::loadTools()
{
    const std::string tag = m_host.schemaTag();
    if (!tag.empty() && tag == m_tag)
        return {};
    auto schema = m_host.schema();
    if (!schema)
        return fail(std::move(schema).error());
    auto functions = functionsOf(*schema);
    if (!functions)
        return fail(std::move(functions).error());
    m_tools = toolsOf(std::move(*functions));
    m_name = stringOr(*schema, "name", "interface");
    m_about = stringOr(*schema, "doc");
    m_tag = tag;
    return {};
}

} // namespace gb::rpc
