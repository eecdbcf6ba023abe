// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "proxy.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <curl/curl.h>

#include <backend/base/json.h>

#include "post.h"

namespace gb::rpc {
namespace {

constexpr auto momentAtTheEnd = std::chrono::seconds(2);
constexpr std::size_t longestLine = 64U << 20U;

std::string lineOf(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Proxy
{
public:
    Proxy(std::filesystem::path accessFile, int output)
        : m_accessFile(std::move(accessFile)), m_output(output)
    { }

    void handle(std::string line)
    {
        auto json = parseJson(line);
        if (!json)
            return say(failure(nullptr, -32700, json.error().message));
        const Json id = json->is_object() ? json->value("id", Json()) : Json();
        const std::string method = stringOr(*json, "method");
        if (method == "notifications/cancelled")
            stop(lineOf(objectOr(*json, "params").value("requestId", Json())));
        auto work = std::make_shared<Work>();
        work->id = id;
        work->key = lineOf(id);
        work->greets = method == "initialize";
        work->headers = headersFor(*json, method);
        work->line = std::move(line);
        {
            const std::lock_guard lock(m_mutex);
            ++m_open;
            if (!id.is_null())
                m_running[work->key] = work;
        }
        std::thread([this, work] { run(*work); }).detach();
    }

    // Waits for what is under way, briefly, then stops it.
    void finish()
    {
        std::unique_lock lock(m_mutex);
        const auto idle = [this] { return m_open == 0; };
        if (m_changed.wait_for(lock, momentAtTheEnd, idle))
            return;
        for (const auto& [key, work] : m_running)
            work->stop = true;
        m_changed.wait(lock, idle);
    }

private:
    struct Work
    {
        Json id;
        std::string key;
        std::string line;
        std::vector<std::string> headers;
        bool greets = false;
        std::atomic<bool> stop = false;
    };

    static std::string failure(const Json& id, int code, const std::string& message)
    {
        return lineOf(
            Json{{"jsonrpc", "2.0"}, {"id", id}, {"error", Json{{"code", code}, {"message", message}}}});
    }

    std::vector<std::string> headersFor(const Json& json, const std::string& method)
    {
        std::vector<std::string> headers{
            "Content-Type: application/json", "Accept: application/json, text/event-stream", "Expect:"};
        const Json params = objectOr(json, "params");
        const std::string stated =
            stringOr(objectOr(params, "_meta"), "io.modelcontextprotocol/protocolVersion");
        const std::lock_guard lock(m_mutex);
        const std::string& version = stated.empty() ? m_version : stated;
        const auto add = [&headers](const char* name, const std::string& value) {
            if (!value.empty() && value.find_first_of("\r\n") == std::string::npos)
                headers.push_back(std::string(name) + ": " + value);
        };
        add("MCP-Protocol-Version", version);
        if (!stated.empty()) {
            add("Mcp-Method", method);
            add("Mcp-Name", stringOr(params, "name"));
        }
        return headers;
    }

    void run(Work& work)
    {
        const auto take = [this, &work](const std::string& message) {
            const auto json = work.greets ? parseJson(message) : Result<Json>(Json());
            if (json && json->is_object())
                greeted(*json);
            say(message);
        };
        Status sent;
        if (const auto access = HostAccess::read(m_accessFile); access)
            sent = postMessage(*access, work.line, work.headers, work.stop, take);
        else
            sent = fail(access.error());
        if (!sent && !work.id.is_null() && !work.stop)
            say(failure(work.id, -32603, sent.error().message));
        const std::lock_guard lock(m_mutex);
        m_running.erase(work.key);
        --m_open;
        m_changed.notify_all();
    }

    void greeted(const Json& answer)
    {
        const std::string version = stringOr(objectOr(answer, "result"), "protocolVersion");
        const std::lock_guard lock(m_mutex);
        m_version = version;
    }

    void stop(const std::string& key)
    {
        const std::lock_guard lock(m_mutex);
        if (const auto running = m_running.find(key); running != m_running.end())
            running->second->stop = true;
    }

    void say(const std::string& message)
    {
        const std::lock_guard lock(m_writing);
        const std::string line = message + "\n";
        for (std::size_t at = 0; at < line.size();) {
            const ssize_t n = ::write(m_output, line.data() + at, line.size() - at);
            if (n < 0 && errno != EINTR)
                return;
            at += n > 0 ? static_cast<std::size_t>(n) : 0;
        }
    }

    const std::filesystem::path m_accessFile;
    const int m_output;
    std::mutex m_writing;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::size_t m_open = 0;
    std::string m_version; // agreed on by initialize; empty before
    std::map<std::string, std::shared_ptr<Work>> m_running;
};

} // namespace

Status runMcpProxy(const std::filesystem::path& accessFile, int input, int output)
{
    if (const auto access = HostAccess::read(accessFile); !access)
        return fail(access.error());
    ::curl_global_init(CURL_GLOBAL_DEFAULT);
    Proxy proxy(accessFile, output);
    std::string pending;
    char buffer[65536];
    for (;;) {
        const ssize_t n = ::read(input, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        pending.append(buffer, static_cast<std::size_t>(n));
        for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
            std::string line = pending.substr(0, end);
            pending.erase(0, end + 1);
            if (line.find_first_not_of(" \t\r") != std::string::npos)
                proxy.handle(std::move(line));
        }
        if (pending.size() > longestLine)
            return fail("mcp.line", "a message is longer than " + std::to_string(longestLine) + " bytes");
    }
    proxy.finish();
    return {};
}

} // namespace gb::rpc
