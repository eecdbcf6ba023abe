// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxconnection.h"

#include <backend/base/json.h>
#include <backend/base/log.h>

namespace gb::rpc {
namespace {

constexpr std::int64_t mostChunks = 64;
// Somebody who asks and asks and never reads is let go.
constexpr std::size_t mostUnsent = 64U << 20U;

} // namespace

BoxConnection::BoxConnection(BoxServer& server)
    : m_server(server), m_box(server.box()),
      m_requests(mostChunks, [this](std::string json) { m_socket->send(std::move(json)); })
{ }

BoxConnection::~BoxConnection()
{
    m_box.forget(this);
}

void BoxConnection::open(UniqueFd fd)
{
    const std::weak_ptr<BoxConnection> weak = weak_from_this();
    m_socket =
        FrameSocket::create(m_box.loop(), std::move(fd), FrameLimits{}, FrameSocket::Descriptors::Refused,
            {[this](std::string& json, SharedText attachment) { frame(json, std::move(attachment)); },
                [weak](const std::string&) {
                    if (const auto self = weak.lock())
                        self->m_server.drop(self);
                },
                [this] { pumpAll(); }});
    m_box.observe(this);
}

void BoxConnection::close()
{
    m_box.forget(this);
    m_socket->close();
    m_following.clear();
    setBusy(false);
    endWorker();
}

void BoxConnection::frame(std::string& json, SharedText attachment)
{
    if (m_socket->unsent() > mostUnsent) {
        logWarning("box", "a connection asks without reading and is closed");
        return m_server.drop(shared_from_this());
    }
    auto request = m_requests.take(json, std::move(attachment));
    if (!request)
        return;
    const std::int64_t id = request->message.id;
    const std::string method = request->message.method;
    if (!dispatchRequest(*this, methods(), std::move(*request)))
        refuse(id, {"rpc.unknown_method", "unknown method \"" + method + "\""});
}

const RequestMethods<BoxConnection>& BoxConnection::methods()
{
    static const RequestMethods<BoxConnection> table{
        {"box.hello", &BoxConnection::hello},
        {"box.exec", &BoxConnection::exec},
        {"box.wait", &BoxConnection::wait},
        {"box.output", &BoxConnection::output},
        {"box.commands", &BoxConnection::commands},
        {"box.stdin", &BoxConnection::input},
        {"box.signal", &BoxConnection::signal},
        {"box.resize", &BoxConnection::resize},
        {"box.put", &BoxConnection::put},
        {"box.put_folder", &BoxConnection::putFolder},
        {"box.get", &BoxConnection::get},
        {"box.list", &BoxConnection::list},
        {"box.stat", &BoxConnection::stat},
        {"box.mkdir", &BoxConnection::makeFolder},
        {"box.meters", &BoxConnection::meters},
        {"box.port", &BoxConnection::port},
        {"box.ports", &BoxConnection::ports},
        {"box.port_close", &BoxConnection::closePort},
        {"box.worker", &BoxConnection::worker},
        {"box.worker_signal", &BoxConnection::signalWorker},
        {"box.touch", &BoxConnection::touch},
        {"box.extend", &BoxConnection::extend},
        {"box.stop", &BoxConnection::stop},
    };
    return table;
}

void BoxConnection::answer(std::int64_t id, const Json& result, const SharedText& text)
{
    m_socket->send(encodeAnswer(id, result), text);
}

void BoxConnection::refuse(std::int64_t id, const Error& error)
{
    m_socket->send(encodeFailure(id, error));
}

void BoxConnection::notify(std::string_view method, const Json& params, const SharedText& text)
{
    m_socket->send(encodeNotification(method, params), text);
}

void BoxConnection::ending(const char* reason, std::int64_t seconds)
{
    notify("box.ending", {{"reason", reason}, {"seconds", seconds}});
}

void BoxConnection::ended(const char* reason)
{
    notify("box.ended", {{"reason", reason}});
}

void BoxConnection::hello(std::int64_t id, const Json& params, SharedText)
{
    constexpr int protocol = 1;
    if (integerOr(params, "protocol", protocol) > protocol)
        return refuse(id, {"rpc.version", "this keeper speaks protocol 1"});
    answer(id, m_box.hello());
}

void BoxConnection::setBusy(bool busy)
{
    if (std::exchange(m_busy, busy) != busy)
        m_box.limits().setBusy(busy);
}

void BoxConnection::touch(std::int64_t id, const Json& params, SharedText)
{
    setBusy(boolOr(params, "busy"));
    m_box.limits().used();
    answer(id, Json::object());
}

void BoxConnection::extend(std::int64_t id, const Json& params, SharedText)
{
    m_box.limits().used();
    const auto endsAt = m_box.limits().extend(integerOr(params, "seconds"));
    if (endsAt)
        answer(id, {{"ends_at", *endsAt}});
    else
        refuse(id, endsAt.error());
}

void BoxConnection::stop(std::int64_t id, const Json&, SharedText)
{
    answer(id, Json::object());
    m_box.end("stopped");
}

} // namespace gb::rpc
