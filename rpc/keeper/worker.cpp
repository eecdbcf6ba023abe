// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "worker.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>

#include <sys/socket.h>

#include <backend/base/json.h>
#include <backend/base/log.h>

#include "json_check.h"
#include "worker_box.h"

namespace gb::rpc {
namespace {

// Cuts `"key":<digits>` off the front.
bool cutNumber(std::string_view& text, std::string_view before, std::int64_t& value)
{
    if (!text.starts_with(before))
        return false;
    text.remove_prefix(before.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
        return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

// How many descriptors came along with a result or an item.
std::size_t descriptorsOf(const Json& header)
{
    std::size_t count = 0;
    if (const auto it = header.find("tensors"); it != header.end() && it->is_array()) {
        for (const Json& tensor : *it)
            count += boolOr(tensor, "fd") ? 1U : 0U;
    }
    return count;
}

} // namespace

Result<std::unique_ptr<Worker>> Worker::start(
    Loop& loop, const HostConfig& config, int generation, Handlers handlers)
{
    std::unique_ptr<Worker> worker(new Worker(std::move(handlers), generation));
    Worker* self = worker.get();
    worker->m_concealer = config.concealer;
    WorkerHome::Handlers home{[self](const char* stream, std::string_view text) {
                                  self->m_handlers.printed(
                                      stream, self->m_concealer.conceal(std::string(text)));
                              },
        [self](const WorkerExit& exit) {
            const auto handler = self->m_handlers.exited;
            handler(exit);
        }};
    GB_TRY(config.workerVia.empty() ? worker->startBeside(loop, config, std::move(home))
                                    : worker->startInSandbox(loop, config, std::move(home)));
    return worker;
}

Status Worker::startBeside(Loop& loop, const HostConfig& config, WorkerHome::Handlers handlers)
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return failErrno("cannot make", "the worker link", errno);
    UniqueFd ours(ends[0]);
    auto process = WorkerProcess::start(
        loop, config.python, config.workerPackage.string(), UniqueFd(ends[1]), std::move(handlers));
    if (!process)
        return fail(process.error());
    m_home = std::move(*process);
    open(loop, config, std::move(ours), Json::object());
    return {};
}

Status Worker::startInSandbox(Loop& loop, const HostConfig& config, WorkerHome::Handlers handlers)
{
    BoxWorker::Linked linked;
    linked.linked = [this, &loop, &config](
                        UniqueFd link, const Json& secrets) { open(loop, config, std::move(link), secrets); };
    linked.refused = [this](const Error& error) { refuseToLoad("initial", error); };
    auto process = BoxWorker::start(loop, config, std::move(linked), std::move(handlers));
    if (!process)
        return fail(process.error());
    m_home = std::move(*process);
    return {};
}

void Worker::open(Loop& loop, const HostConfig& config, UniqueFd link, const Json& secrets)
{
    m_link = FrameSocket::create(loop, std::move(link), workerLinkLimits, FrameSocket::Descriptors::Accepted,
        {[this](std::string& json, SharedText attachment) { frame(json, std::move(attachment)); },
            // A worker without a link is of no use; its end is reported by its process.
            [this](const std::string&) { m_home->killRest(); }});
    Json env = config.env;
    for (const auto& [name, value] : secrets.items())
        env[name] = value;
    send(Json{{"t", "init"}, {"interface", config.interfaceForWorker()}, {"name", config.name},
        {"models", config.models}, {"env", env}, {"limits", config.limits.forWorker()},
        {"generation", m_generation}}
             .dump(-1, ' ', false, Json::error_handler_t::replace));
}

// A worker whose process is still on its way has nothing to be told yet.
void Worker::send(std::string json, const SharedText& attachment)
{
    if (m_link)
        m_link->send(std::move(json), attachment);
}

void Worker::refuseToLoad(const char* how, const Error& error)
{
    m_handlers.loadFailed(Json{{"t", "load_failed"}, {"how", how},
        {"error", {{"kind", "load_failed"}, {"type", error.code}, {"message", error.message}}}});
}

void Worker::answered()
{
    --m_running;
    if (m_running == 0)
        m_home->setBusy(false);
}

Worker::~Worker()
{
    if (m_link)
        m_link->close();
}

void Worker::call(std::int64_t id, const CallRequest& request)
{
    std::string json = "{\"t\":\"call\",\"id\":" + std::to_string(id) + ",\"fn\":";
    appendJsonString(json, request.fn);
    json += request.binary ? ",\"binary\":true" : ",\"binary\":false";
    json += request.stream ? ",\"stream\":true}" : ",\"stream\":false}";
    send(std::move(json), request.arguments);
    ++m_running;
    m_home->setBusy(true);
}

void Worker::cancel(std::int64_t id)
{
    send("{\"t\":\"cancel\",\"id\":" + std::to_string(id) + "}");
}

void Worker::reload()
{
    m_home->bringFile([this](const Status& brought) {
        if (brought)
            send(R"({"t":"reload"})");
        else
            refuseToLoad("reload", brought.error());
    });
}

void Worker::readTensor(std::int64_t id, std::string_view handle, const Json& what)
{
    Json message{{"t", "tensor.read"}, {"id", id}, {"handle", handle}};
    message.update(what);
    send(message.dump());
}

void Worker::release(std::string_view handle)
{
    send(R"({"t":"release","handle":)" + jsonString(handle) + "}");
}

void Worker::shutdown()
{
    if (!m_link)
        return kill();
    send(R"({"t":"shutdown"})");
}

void Worker::kill()
{
    m_home->kill(SIGKILL);
}

SharedText Worker::concealed(SharedText text) const
{
    if (m_concealer.isEmpty() || !m_concealer.finds(text.view()))
        return text;
    return m_concealer.conceal(std::string(text.view()));
}

void Worker::frame(std::string& json, SharedText attachment)
{
    // Everything a worker says comes this way; only the bytes of tensors are no text.
    if (!m_concealer.isEmpty()) {
        json = m_concealer.conceal(std::move(json));
        if (!json.starts_with(R"({"t":"tensor.data")"))
            attachment = concealed(std::move(attachment));
    }
    if (takePlainResult(json, attachment))
        return;
    const auto header = parseJson(json);
    if (!header || !header->is_object()) {
        logError("keeper", "the worker broke the format of its link and is ended");
        return kill();
    }
    dispatch(stringOr(*header, "t"), *header, std::move(attachment));
}

// The most frequent message by far is read without building a document.
bool Worker::takePlainResult(std::string_view json, SharedText& attachment)
{
    WorkerResult result;
    if (!cutNumber(json, R"({"t":"result","id":)", result.id)
        || !cutNumber(json, R"(,"ok":true,"ns":{"compute":)", result.computeNs)
        || !cutNumber(json, R"(,"serialise":)", result.serialiseNs)
        || json != R"(},"special":false,"tensors":[],"warnings":[]})")
        return false;
    result.ok = true;
    answered();
    result.text = std::move(attachment);
    m_handlers.result(result);
    return true;
}

void Worker::dispatch(const std::string& kind, const Json& header, SharedText attachment)
{
    if (kind == "result") {
        takeResult(header, std::move(attachment));
    } else if (kind == "started" || kind == "output" || kind == "progress" || kind == "item"
        || kind == "log") {
        auto fds = m_link->takeDescriptors(kind == "item" ? descriptorsOf(header) : 0);
        m_handlers.event(header, std::move(attachment), std::move(fds));
    } else if (kind == "hello") {
        m_hello = header;
    } else if (kind == "loaded") {
        m_handlers.loaded(header, std::move(attachment));
    } else if (kind == "load_failed") {
        m_handlers.loadFailed(header);
    } else if (kind == "tensor.data") {
        auto fds = m_link->takeDescriptors(boolOr(header, "fd") ? 1 : 0);
        m_handlers.tensorData(header, std::move(attachment), std::move(fds));
    }
}

void Worker::takeResult(const Json& header, SharedText attachment)
{
    answered();
    WorkerResult result;
    result.id = integerOr(header, "id", -1);
    result.ok = boolOr(header, "ok");
    result.special = boolOr(header, "special");
    result.error = objectOr(header, "error");
    const Json ns = objectOr(header, "ns");
    result.computeNs = integerOr(ns, "compute");
    result.serialiseNs = integerOr(ns, "serialise");
    if (const auto it = header.find("warnings"); it != header.end() && it->is_array())
        result.warnings = *it;
    if (const auto it = header.find("tensors"); it != header.end() && it->is_array())
        result.tensors = *it;
    result.text = std::move(attachment);
    result.descriptors = m_link->takeDescriptors(descriptorsOf(header));
    m_handlers.result(result);
}

} // namespace gb::rpc
