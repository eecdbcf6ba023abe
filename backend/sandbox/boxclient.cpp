// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxclient.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <backend/base/clock.h>
#include <backend/base/ids.h>

namespace gb {
namespace {

constexpr std::int64_t boxProtocol = 1;
constexpr int cancelLookMs = 50;
constexpr std::int64_t helloTimeoutMs = 10'000;
constexpr int sendTimeoutSeconds = 10;
constexpr std::size_t errorsKept = 4000;

std::int64_t nowMs()
{
    return monotonicNs() / 1'000'000;
}

} // namespace

BoxClient::BoxClient(UniqueFd socket, std::function<bool()> isCancelled)
    : m_socket(std::move(socket)), m_isCancelled(std::move(isCancelled))
{ }

Result<BoxClient> BoxClient::connect(const fs::path& path, std::function<bool()> isCancelled)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.size() >= sizeof address.sun_path)
        return fail("io.path_too_long", text + " is too long for a socket");
    std::memcpy(address.sun_path, text.data(), text.size());
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid())
        return failErrno("cannot make a socket for", text, errno);
    // Connecting waits, too, when the other side no longer takes anybody.
    const timeval patience{sendTimeoutSeconds, 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return failErrno("cannot connect to", text, errno);
    ucred other{};
    socklen_t size = sizeof other;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &other, &size) != 0 || other.uid != ::geteuid())
        return fail("sandbox.foreign_peer", text + " is served by another user");
    return BoxClient(std::move(fd), std::move(isCancelled));
}

Result<pid_t> BoxClient::peer() const
{
    ucred other{};
    socklen_t size = sizeof other;
    if (::getsockopt(m_socket.get(), SOL_SOCKET, SO_PEERCRED, &other, &size) != 0)
        return failErrno("cannot ask for", "the peer of a socket", errno);
    return other.pid;
}

Status BoxClient::greet(const std::string& id, const std::string& nonce)
{
    const auto hello = request("box.hello", Json{{"protocol", boxProtocol}}, {}, helloTimeoutMs);
    if (!hello)
        return fail(hello.error());
    if (stringOr(hello->body, "id") != id || !sameSecret(stringOr(hello->body, "nonce"), nonce))
        return fail("sandbox.other", "another sandbox answers there");
    return {};
}

Status BoxClient::send(std::string_view frame)
{
    while (!frame.empty()) {
        const ssize_t n = ::send(m_socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail("sandbox.gone", "the sandbox does not run any more");
        frame.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

Result<rpc::Frame> BoxClient::receive(std::int64_t deadlineMs)
{
    std::array<char, 1U << 16U> buffer{};
    for (;;) {
        auto frame = m_reader.next();
        if (!frame)
            return fail(frame.error());
        if (*frame)
            return std::move(**frame);
        if (m_isCancelled && m_isCancelled())
            return fail("cancelled", "cancelled");
        if (deadlineMs > 0 && nowMs() >= deadlineMs)
            return fail("sandbox.silent", "the keeper of the sandbox does not answer");
        pollfd polled{m_socket.get(), POLLIN, 0};
        if (::poll(&polled, 1, cancelLookMs) <= 0)
            continue;
        const ssize_t got = ::recv(m_socket.get(), buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail("sandbox.gone", "the sandbox does not run any more");
        m_reader.feed({buffer.data(), static_cast<std::size_t>(got)});
    }
}

Result<BoxClient::Reply> BoxClient::request(
    std::string_view method, const Json& params, const Heard& onHeard, std::int64_t timeoutMs)
{
    const std::int64_t id = m_next++;
    const std::int64_t deadline = timeoutMs > 0 ? nowMs() + timeoutMs : 0;
    GB_TRY(send(rpc::encodeFrame(rpc::encodeRequest(id, method, params))));
    for (;;) {
        auto frame = receive(deadline);
        if (!frame)
            return fail(frame.error());
        auto message = rpc::decodeMessage(frame->json);
        if (!message)
            return fail(message.error());
        const bool isOurs = message->id == id;
        if (message->kind == rpc::Message::Kind::Answer && isOurs)
            return Reply{std::move(message->body), std::move(frame->attachment)};
        if (message->kind == rpc::Message::Kind::Failure && isOurs)
            return fail(std::move(message->error));
        if (message->kind == rpc::Message::Kind::Notification && onHeard)
            onHeard(*message, frame->attachment);
    }
}

Result<BoxClient::Ended> BoxClient::run(const std::string& script, const std::string& folder,
    const std::function<void(std::string_view)>& onOutput)
{
    std::string command;
    Ended ended;
    std::optional<int> code;
    // The command is known before anything is heard of it.
    const auto hear = [&](const rpc::Message& one, const std::string& bytes) {
        if (stringOr(one.body, "command") != command)
            return;
        if (one.method == "box.exit")
            code = static_cast<int>(integerOr(one.body, "code", -1));
        if (one.method != "box.output")
            return;
        if (onOutput)
            onOutput(bytes);
        if (stringOr(one.body, "stream") == "stderr") {
            ended.errors += bytes;
            if (ended.errors.size() > errorsKept)
                ended.errors.erase(0, ended.errors.size() - errorsKept);
        }
    };
    const auto started = request("box.exec", Json{{"script", script}, {"cwd", folder}}, hear);
    if (!started)
        return fail(started.error());
    command = stringOr(started->body, "command");
    while (!code) {
        auto frame = receive(0);
        if (!frame)
            return fail(frame.error());
        auto message = rpc::decodeMessage(frame->json);
        if (!message)
            return fail(message.error());
        if (message->kind == rpc::Message::Kind::Notification)
            hear(*message, frame->attachment);
    }
    ended.code = *code;
    return ended;
}

bool BoxClient::waitForEnd(std::int64_t timeoutMs)
{
    const std::int64_t deadline = nowMs() + timeoutMs;
    for (;;) {
        const auto frame = receive(deadline);
        if (frame)
            continue;
        return frame.error().code != "sandbox.silent" && frame.error().code != "cancelled";
    }
}

} // namespace gb
