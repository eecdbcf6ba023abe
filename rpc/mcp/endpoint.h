// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <backend/base/json.h>
#include <rpc/exposure/tools.h>

namespace gb::rpc {

// The Model Context Protocol over HTTP, versions 2025-03-26 to 2026-07-28 at one address. No sockets in here:
// the room that serves HTTP checks who is asking, hands requests in and answers out, all on one thread.

struct McpRequest
{
    std::string body;
    std::string caller; // who is asking (the id of the token)
    bool acceptsStream = false; // Accept names text/event-stream
    // Header fields; empty when absent.
    std::string protocolVersion; // MCP-Protocol-Version
    std::string method; // Mcp-Method
    std::string name; // Mcp-Name
};

// The way one request is answered: a whole body, or a stream of server-sent events.
class McpAnswer
{
public:
    virtual ~McpAnswer() = default;

    virtual void reply(int status, std::string_view type, std::string body) = 0;
    virtual void beginStream() = 0;
    virtual void write(std::string_view text) = 0;
    virtual void endStream() = 0;
    // To be called once when the client goes away before its answer was complete.
    virtual void onGone(std::function<void()> handler) = 0;
};
using McpAnswerPtr = std::shared_ptr<McpAnswer>;

struct McpProgress
{
    double done = 0;
    std::optional<double> total;
    std::string message;
};

// How a call ended: a result as plain JSON text, or an error as in a call's record.
struct McpOutcome
{
    std::string result;
    Json error;
};

struct McpListener
{
    std::function<void(const McpProgress&)> progress;
    std::function<void(const McpOutcome&)> done; // once, unless call() failed
};

// What serves the calls.
class McpHost
{
public:
    virtual ~McpHost() = default;

    virtual Result<Json> schema() = 0; // fails while the interface file is not loaded
    virtual std::string schemaTag() = 0; // changes with it
    virtual bool mayCall(std::string_view caller, std::string_view function) = 0;
    // Returns the call's id. The listener is called later, never from within.
    virtual Result<std::string> call(std::string_view caller, const std::string& function,
        std::string arguments, McpListener listener) = 0;
    virtual void cancel(const std::string& call) = 0;
};

class McpEndpoint
{
public:
    explicit McpEndpoint(McpHost& host);
    ~McpEndpoint();

    void handle(const McpRequest& request, const McpAnswerPtr& answer);

private:
    struct Message; // one JSON-RPC message on its way through
    struct Batch;
    using MessagePtr = std::shared_ptr<Message>;

    void handleOne(const MessagePtr& message);
    void handleBatch(const McpRequest& request, const Json& list, const McpAnswerPtr& answer);
    void dispatch(const MessagePtr& message);
    void listTools(const MessagePtr& message);
    void callTool(const MessagePtr& message);
    std::string unknownTool(std::string_view caller, const std::string& name) const;
    void showProgress(const MessagePtr& message, const McpProgress& progress);
    void cancelRequested(const Message& message);
    Status loadTools();

    McpHost& m_host;
    std::string m_tag;
    std::string m_name;
    std::string m_about;
    std::vector<Tool> m_tools;
    // Calls that a notification of the older protocols may cancel: caller and request id -> call.
    std::map<std::string, std::string> m_running;
};

} // namespace gb::rpc
