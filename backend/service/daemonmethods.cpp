// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

#include <QTimer>

#include <backend/base/fd.h>

#include "daemon.h"
#include "services.h"

namespace gb::service {
namespace {

struct HelloParams
{
    std::int64_t protocol = 0;
    JsonObject client;
    std::optional<std::string> build;
    std::optional<JsonObject> environment;
    static auto fields()
    {
        return std::tuple(field("protocol", &HelloParams::protocol), field("client", &HelloParams::client),
            field("build", &HelloParams::build), field("environment", &HelloParams::environment));
    }
};

struct StopParams
{
    std::optional<bool> force;
    static auto fields() { return std::tuple(field("force", &StopParams::force)); }
};

struct LogsParams
{
    std::optional<std::int64_t> offset;
    std::optional<std::int64_t> limit;
    static auto fields()
    {
        return std::tuple(field("offset", &LogsParams::offset), field("limit", &LogsParams::limit));
    }
};

constexpr std::int64_t logsLimit = 1 << 20;

void sayHello(Daemon* daemon, const HelloParams& params, Reply reply)
{
    if (params.protocol > api::protocolVersion)
        return reply.refuse(
            Error{"rpc.version", "this daemon speaks protocol " + std::to_string(api::protocolVersion),
                Json{{"protocol", api::protocolVersion}}});
    const std::string kind = stringOr(params.client.json, "kind", "person");
    if (kind != "person" && kind != "script" && kind != "agent")
        return reply.refuse(Error{"params.type", "client.kind must be person, script or agent"});
    Connection* connection = reply.connection();
    std::map<std::string, std::string> environment;
    if (params.environment) {
        for (const auto& [name, value] : params.environment->json.items()) {
            if (value.is_string())
                environment.emplace(name, value.get<std::string>());
        }
    }
    daemon->greet(
        connection, Caller{kind, stringOr(params.client.json, "name", "client")}, std::move(environment));
    Json info = daemon->info();
    info["replaceable"] = daemon->isReplaceable(connection);
    reply.finish(std::move(info));
}

// A negative offset counts from the end, as in "the last 4 KiB".
Result<Json> readLog(const fs::path& path, const LogsParams& params)
{
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info
    { };
    if (!fd.valid() || ::fstat(fd.get(), &info) != 0)
        return failErrno("cannot read", path.string(), errno);
    const std::int64_t size = info.st_size;
    std::int64_t offset = params.offset.value_or(0);
    if (offset < 0)
        offset = std::max<std::int64_t>(0, size + offset);
    const std::int64_t limit = std::clamp<std::int64_t>(params.limit.value_or(64 << 10), 0, logsLimit);
    std::string text(static_cast<std::size_t>(limit), '\0');
    const ssize_t n = ::pread(fd.get(), text.data(), text.size(), offset);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return Json{{"text", text}, {"next", offset + static_cast<std::int64_t>(text.size())}, {"size", size}};
}

Json methodTable()
{
    Json all = Json::array();
    for (const api::Method& method : api::methods())
        all.push_back(toJson(method));
    return Json{{"methods", std::move(all)}};
}

} // namespace

void bindDaemonMethods(Dispatcher* dispatcher, const Services& services)
{
    Binder& binder = dispatcher->binder();
    Daemon* daemon = services.daemon;
    binder.bind<HelloParams>(
        "daemon.hello", [daemon](const HelloParams& params, const std::string&, Reply reply) {
            sayHello(daemon, params, std::move(reply));
        });
    binder.bind<NoParams>("daemon.status", [daemon](NoParams) -> Result<Json> { return daemon->status(); });
    binder.bind<NoParams>("daemon.methods", [](NoParams) -> Result<Json> { return methodTable(); });
    binder.bind<LogsParams>("daemon.logs",
        [path = services.dataFolder / "daemon.log"](LogsParams params) { return readLog(path, params); });
    binder.bind<StopParams>("daemon.stop", [daemon](StopParams params) -> Result<Json> {
        const Json alive = daemon->alive();
        if (!alive.empty() && !params.force.value_or(false))
            return fail("daemon.busy", "something is alive", Json{{"alive", alive}});
        QTimer::singleShot(0, daemon, &Daemon::stop);
        return Json::object();
    });
}

} // namespace gb::service
