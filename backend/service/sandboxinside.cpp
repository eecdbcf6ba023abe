// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// What is asked of the inside of a sandbox: passed on to its keeper.

#include <cerrno>
#include <fcntl.h>

#include <backend/base/ids.h>

#include "dispatcher.h"
#include "sandboxes.h"
#include "sandboxexec.h"
#include "services.h"

namespace gb::service {
namespace {

constexpr unsigned usualMode = 0644;

struct InsideExecParams
{
    std::string sandbox;
    std::optional<JsonArray> argv;
    std::optional<std::string> script;
    std::optional<JsonObject> env;
    std::optional<std::string> cwd;
    std::optional<std::int64_t> timeoutMs;
    std::optional<bool> input;
    std::optional<JsonObject> terminal;
    std::optional<std::int64_t> outputLimit;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsideExecParams::sandbox),
            field("argv", &InsideExecParams::argv), field("script", &InsideExecParams::script),
            field("env", &InsideExecParams::env), field("cwd", &InsideExecParams::cwd),
            field("timeout_ms", &InsideExecParams::timeoutMs), field("stdin", &InsideExecParams::input),
            field("terminal", &InsideExecParams::terminal),
            field("output_limit", &InsideExecParams::outputLimit));
    }
};

struct InsideParams
{
    std::string sandbox;
    static auto fields() { return std::tuple(field("sandbox", &InsideParams::sandbox)); }
};

struct InsideWaitParams
{
    std::string sandbox;
    std::string command;
    std::optional<std::int64_t> timeoutMs;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsideWaitParams::sandbox),
            field("command", &InsideWaitParams::command), field("timeout_ms", &InsideWaitParams::timeoutMs));
    }
};

struct InsideOutputParams
{
    std::string sandbox;
    std::string command;
    std::string stream;
    std::optional<std::int64_t> offset;
    std::optional<std::int64_t> limit;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsideOutputParams::sandbox),
            field("command", &InsideOutputParams::command), field("stream", &InsideOutputParams::stream),
            field("offset", &InsideOutputParams::offset), field("limit", &InsideOutputParams::limit));
    }
};

struct InsideStdinParams
{
    std::string sandbox;
    std::string command;
    std::optional<bool> eof;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsideStdinParams::sandbox),
            field("command", &InsideStdinParams::command), field("eof", &InsideStdinParams::eof));
    }
};

struct InsideSignalParams
{
    std::string sandbox;
    std::string command;
    std::int64_t signal = 0;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsideSignalParams::sandbox),
            field("command", &InsideSignalParams::command), field("signal", &InsideSignalParams::signal));
    }
};

struct InsideResizeParams
{
    std::string sandbox;
    std::string command;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsideResizeParams::sandbox),
            field("command", &InsideResizeParams::command), field("rows", &InsideResizeParams::rows),
            field("columns", &InsideResizeParams::columns));
    }
};

struct InsideListParams
{
    std::string sandbox;
    std::string path;
    std::optional<std::string> after;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsideListParams::sandbox),
            field("path", &InsideListParams::path), field("after", &InsideListParams::after));
    }
};

struct InsidePathParams
{
    std::string sandbox;
    std::string path;
    static auto fields()
    {
        return std::tuple(
            field("sandbox", &InsidePathParams::sandbox), field("path", &InsidePathParams::path));
    }
};

struct InsidePortParams
{
    std::string sandbox;
    std::optional<std::int64_t> port;
    std::optional<std::string> path;
    std::optional<bool> tcp;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsidePortParams::sandbox),
            field("port", &InsidePortParams::port), field("path", &InsidePortParams::path),
            field("tcp", &InsidePortParams::tcp));
    }
};

struct InsidePortCloseParams
{
    std::string sandbox;
    std::string id;
    static auto fields()
    {
        return std::tuple(
            field("sandbox", &InsidePortCloseParams::sandbox), field("id", &InsidePortCloseParams::id));
    }
};

struct InsideExtendParams
{
    std::string sandbox;
    std::int64_t seconds = 0;
    static auto fields()
    {
        return std::tuple(
            field("sandbox", &InsideExtendParams::sandbox), field("seconds", &InsideExtendParams::seconds));
    }
};

struct InsidePutParams
{
    std::string sandbox;
    std::string path;
    std::optional<std::int64_t> mode;
    std::string transfer;
    std::int64_t offset = 0;
    bool final = false;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsidePutParams::sandbox), field("path", &InsidePutParams::path),
            field("mode", &InsidePutParams::mode), field("transfer", &InsidePutParams::transfer),
            field("offset", &InsidePutParams::offset), field("final", &InsidePutParams::final));
    }
};

struct InsideReadParams
{
    std::string sandbox;
    std::string path;
    std::optional<std::int64_t> offset;
    std::optional<std::int64_t> limit;
    static auto fields()
    {
        return std::tuple(field("sandbox", &InsideReadParams::sandbox),
            field("path", &InsideReadParams::path), field("offset", &InsideReadParams::offset),
            field("limit", &InsideReadParams::limit));
    }
};

api::AnswerHandler handOn(Reply reply)
{
    return [reply](Result<api::Answer> answer) mutable {
        if (answer)
            reply.finish(std::move(*answer));
        else
            reply.refuse(answer.error());
    };
}

template <typename T>
void putIfGiven(Json& body, const char* key, const std::optional<T>& value)
{
    if (value)
        body[key] = *value;
}

Json execBody(const InsideExecParams& params)
{
    Json body = Json::object();
    if (params.argv)
        body["argv"] = params.argv->json;
    if (params.env)
        body["env"] = params.env->json;
    if (params.terminal)
        body["terminal"] = params.terminal->json;
    putIfGiven(body, "script", params.script);
    putIfGiven(body, "cwd", params.cwd);
    putIfGiven(body, "timeout_ms", params.timeoutMs);
    putIfGiven(body, "stdin", params.input);
    putIfGiven(body, "output_limit", params.outputLimit);
    return body;
}

Json renamed(Json body, const char* from, const char* to)
{
    if (const auto value = body.find(from); value != body.end()) {
        body[to] = *value;
        body.erase(from);
    }
    return body;
}

// A piece of an upload, kept outside until the last one is there. Writing the same piece again changes
// nothing.
Status keepPiece(const fs::path& file, const InsidePutParams& params, const std::string& bytes)
{
    const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid())
        return failErrno("cannot open", file.string(), errno);
    const off_t size = ::lseek(fd.get(), 0, SEEK_END);
    if (params.offset < 0 || params.offset > size)
        return fail("sandbox.transfer", "a piece of this upload is missing", Json{{"have", size}});
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = ::pwrite(
            fd.get(), bytes.data() + done, bytes.size() - done, params.offset + static_cast<off_t>(done));
        if (n < 0 && errno != EINTR)
            return failErrno("cannot write", file.string(), errno);
        done += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    return {};
}

void put(Sandboxes* sandboxes, const InsidePutParams& params, const std::string& bytes, Reply reply)
{
    const auto record = sandboxes->find(params.sandbox);
    if (!record)
        return reply.refuse(record.error());
    if (!isId(params.transfer))
        return reply.refuse(Error{"params.type", "transfer must be a UUID"});
    const fs::path folder = sandboxes->folderOf(record->id) / "transfers";
    if (const Status made = ensurePrivateDir(folder); !made)
        return reply.refuse(made.error());
    const fs::path file = folder / params.transfer;
    if (const Status kept = keepPiece(file, params, bytes); !kept)
        return reply.refuse(kept.error());
    if (!params.final)
        return reply.finish(Result<Json>(Json::object()));
    const Json body{
        {"path", params.path}, {"mode", params.mode.value_or(usualMode)}, {"file", file.string()}};
    sandboxes->request(record->id, "box.put", body, [reply, file](const Result<api::Answer>& answer) mutable {
        std::error_code ignored;
        fs::remove(file, ignored);
        if (answer)
            reply.finish(Result<Json>(Json::object()));
        else
            reply.refuse(answer.error());
    });
}

void bindCommands(Binder& binder, Sandboxes* sandboxes)
{
    binder.bind<InsideExecParams>(
        "sandboxes.exec", [sandboxes](const InsideExecParams& params, const std::string&, Reply reply) {
            runInside(sandboxes, params.sandbox, execBody(params), std::move(reply));
        });
    binder.bind<InsideWaitParams>(
        "sandboxes.wait", [sandboxes](const InsideWaitParams& params, const std::string&, Reply reply) {
            Json body{{"command", params.command}};
            putIfGiven(body, "timeout_ms", params.timeoutMs);
            sandboxes->request(params.sandbox, "box.wait", body, handOn(std::move(reply)));
        });
    binder.bind<InsideOutputParams>(
        "sandboxes.output", [sandboxes](const InsideOutputParams& params, const std::string&, Reply reply) {
            Json body{
                {"command", params.command}, {"stream", params.stream}, {"from", params.offset.value_or(0)}};
            putIfGiven(body, "limit", params.limit);
            sandboxes->request(
                params.sandbox, "box.output", body, [reply](Result<api::Answer> answer) mutable {
                    if (!answer)
                        return reply.refuse(answer.error());
                    answer->body = renamed(std::move(answer->body), "from", "offset");
                    reply.finish(std::move(*answer));
                });
        });
    binder.bind<InsideStdinParams>("sandboxes.stdin",
        [sandboxes](const InsideStdinParams& params, const std::string& bytes, Reply reply) {
            const Json body{{"command", params.command}, {"eof", params.eof.value_or(false)}};
            sandboxes->request(params.sandbox, "box.stdin", body, handOn(std::move(reply)), bytes);
        });
    binder.bind<InsideSignalParams>(
        "sandboxes.signal", [sandboxes](const InsideSignalParams& params, const std::string&, Reply reply) {
            sandboxes->request(params.sandbox, "box.signal",
                Json{{"command", params.command}, {"signal", params.signal}}, handOn(std::move(reply)));
        });
    binder.bind<InsideResizeParams>(
        "sandboxes.resize", [sandboxes](const InsideResizeParams& params, const std::string&, Reply reply) {
            sandboxes->request(params.sandbox, "box.resize",
                Json{{"command", params.command}, {"rows", params.rows}, {"columns", params.columns}},
                handOn(std::move(reply)));
        });
}

void bindFiles(Binder& binder, Sandboxes* sandboxes)
{
    binder.bind<InsidePutParams>(
        "sandboxes.put", [sandboxes](const InsidePutParams& params, const std::string& bytes, Reply reply) {
            put(sandboxes, params, bytes, std::move(reply));
        });
    binder.bind<InsideReadParams>(
        "sandboxes.read", [sandboxes](const InsideReadParams& params, const std::string&, Reply reply) {
            Json body{{"path", params.path}};
            putIfGiven(body, "from", params.offset);
            putIfGiven(body, "limit", params.limit);
            sandboxes->request(params.sandbox, "box.get", body, handOn(std::move(reply)));
        });
    binder.bind<InsideListParams>(
        "sandboxes.list_files", [sandboxes](const InsideListParams& params, const std::string&, Reply reply) {
            Json body{{"path", params.path}};
            putIfGiven(body, "after", params.after);
            sandboxes->request(params.sandbox, "box.list", body, handOn(std::move(reply)));
        });
    for (const auto& [name, method] :
        {std::pair{"sandboxes.stat", "box.stat"}, {"sandboxes.mkdir", "box.mkdir"}})
        binder.bind<InsidePathParams>(name,
            [sandboxes, method = std::string(method)](
                const InsidePathParams& params, const std::string&, Reply reply) {
                sandboxes->request(
                    params.sandbox, method, Json{{"path", params.path}}, handOn(std::move(reply)));
            });
}

} // namespace

void bindSandboxInsideMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    Sandboxes* const sandboxes = services.sandboxes;
    bindCommands(binder, sandboxes);
    bindFiles(binder, sandboxes);
    for (const auto& [name, method] : {std::pair{"sandboxes.commands", "box.commands"},
             {"sandboxes.meters", "box.meters"}, {"sandboxes.ports", "box.ports"}})
        binder.bind<InsideParams>(name,
            [sandboxes, method = std::string(method)](
                const InsideParams& params, const std::string&, Reply reply) {
                sandboxes->request(params.sandbox, method, Json::object(), handOn(std::move(reply)));
            });
    binder.bind<InsidePortParams>(
        "sandboxes.port", [sandboxes](const InsidePortParams& params, const std::string&, Reply reply) {
            Json body{{"tcp", params.tcp.value_or(false)}};
            putIfGiven(body, "port", params.port);
            putIfGiven(body, "path", params.path);
            sandboxes->request(params.sandbox, "box.port", body, handOn(std::move(reply)));
        });
    binder.bind<InsidePortCloseParams>("sandboxes.port_close",
        [sandboxes](const InsidePortCloseParams& params, const std::string&, Reply reply) {
            sandboxes->request(
                params.sandbox, "box.port_close", Json{{"id", params.id}}, handOn(std::move(reply)));
        });
    binder.bind<InsideExtendParams>(
        "sandboxes.extend", [sandboxes](const InsideExtendParams& params, const std::string&, Reply reply) {
            sandboxes->extend(params.sandbox, params.seconds, handOn(std::move(reply)));
        });
}

} // namespace gb::service
