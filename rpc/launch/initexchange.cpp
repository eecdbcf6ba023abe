// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <backend/base/sparsefile.h>

#include "initclient.h"

namespace gb {
namespace {

constexpr std::size_t filePiece = 1U << 18U;
constexpr std::int64_t downloadWindow = 4U << 20U;

} // namespace

// A channel's life: numbered, registered, and gone with this object.
class InitClient::Exchange
{
public:
    explicit Exchange(InitClient& client)
        : m_client(client), m_number(client.m_nextChannel++), m_channel(std::make_shared<Channel>())
    {
        const std::lock_guard lock(client.m_mutex);
        client.m_channels[m_number] = m_channel;
        m_channel->lost = !client.m_alive;
    }
    ~Exchange()
    {
        const std::lock_guard lock(m_client.m_mutex);
        m_client.m_channels.erase(m_number);
    }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    Status send(Json message, std::string_view attachment = {}, int descriptor = -1)
    {
        message["ch"] = m_number;
        return m_client.send(message, attachment, descriptor);
    }

    // The next message of the channel; what the other side calls an error is one.
    Result<Received> next()
    {
        std::unique_lock lock(m_channel->mutex);
        m_channel->changed.wait(lock, [&] { return !m_channel->inbox.empty() || m_channel->lost; });
        if (m_channel->inbox.empty())
            return fail("sandbox.gone", "the sandbox has ended");
        Received first = std::move(m_channel->inbox.front());
        m_channel->inbox.erase(m_channel->inbox.begin());
        if (stringOr(first.message, "t") == "error")
            return fail(Error::fromJson(objectOr(first.message, "error")));
        return first;
    }

private:
    InitClient& m_client;
    std::int64_t m_number;
    std::shared_ptr<Channel> m_channel;
};

Result<InitClient::Received> InitClient::ask(Json message)
{
    Exchange exchange(*this);
    GB_TRY(exchange.send(std::move(message)));
    return exchange.next();
}

Status InitClient::upload(const std::string& inside, unsigned mode, const ReadPiece& next)
{
    Exchange exchange(*this);
    GB_TRY(exchange.send(Json{{"t", "file.put"}, {"path", inside}, {"mode", mode}}));
    std::int64_t credit = 0;
    for (;;) {
        auto bytes = next();
        if (!bytes) {
            (void)exchange.send(Json{{"t", "cancel"}});
            return fail(bytes.error());
        }
        if (bytes->empty())
            break;
        while (credit < static_cast<std::int64_t>(bytes->size())) {
            const auto granted = exchange.next();
            if (!granted)
                return fail(granted.error());
            credit += integerOr(granted->message, "bytes");
        }
        credit -= static_cast<std::int64_t>(bytes->size());
        GB_TRY(exchange.send(Json{{"t", "data"}}, *bytes));
    }
    GB_TRY(exchange.send(Json{{"t", "end"}}));
    for (;;) {
        const auto answer = exchange.next();
        if (!answer)
            return fail(answer.error());
        if (stringOr(answer->message, "t") == "ok")
            return {};
    }
}

Status InitClient::download(const std::string& inside, const WritePiece& take)
{
    Exchange exchange(*this);
    GB_TRY(exchange.send(Json{{"t", "file.get"}, {"path", inside}, {"credit", downloadWindow}}));
    for (;;) {
        const auto received = exchange.next();
        if (!received)
            return fail(received.error());
        const std::string kind = stringOr(received->message, "t");
        if (kind == "end")
            return {};
        if (kind != "data")
            continue;
        if (auto taken = take(received->attachment); !taken) {
            (void)exchange.send(Json{{"t", "cancel"}});
            return taken;
        }
        GB_TRY(exchange.send(Json{{"t", "credit"}, {"bytes", received->attachment.size()}}));
    }
}

Status InitClient::putFile(const fs::path& local, const std::string& inside, unsigned mode)
{
    const UniqueFd file(::open(local.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat info
    { };
    if (!file.valid() || ::fstat(file.get(), &info) != 0)
        return failErrno("cannot read", local.string(), errno);
    if (!S_ISREG(info.st_mode))
        return fail("sandbox.not_a_file", local.string() + " is not a file");
    return copyOpenFile(file.get(), inside, mode);
}

// Init gets the open file and lets the kernel copy it, so its bytes pass neither process.
Status InitClient::copyOpenFile(int file, const std::string& inside, unsigned mode)
{
    Exchange exchange(*this);
    GB_TRY(exchange.send(Json{{"t", "file.put"}, {"path", inside}, {"mode", mode}, {"fd", true}}, {}, file));
    const auto answer = exchange.next();
    return answer ? Status() : Status(fail(answer.error()));
}

Status InitClient::putBytes(std::string_view bytes, const std::string& inside, unsigned mode)
{
    return upload(inside, mode, [&]() -> Result<std::string> {
        std::string part(bytes.substr(0, filePiece));
        bytes.remove_prefix(part.size());
        return part;
    });
}

// Appears under its name only when it is whole.
Status InitClient::getFile(const std::string& inside, const fs::path& local)
{
    constexpr mode_t readable = 0644;
    std::string temporary = local.string() + ".XXXXXX";
    const UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file.valid())
        return failErrno("cannot write", local.string(), errno);
    std::int64_t size = 0;
    Status done = download(inside, [&](std::string_view bytes) -> Status {
        GB_TRY(writeKeepingHoles(file.get(), bytes, size));
        size += static_cast<std::int64_t>(bytes.size());
        return {};
    });
    if (done && ::ftruncate(file.get(), size) != 0)
        done = failErrno("cannot write", local.string(), errno);
    ::fchmod(file.get(), readable);
    if (done && ::rename(temporary.c_str(), local.c_str()) != 0)
        done = failErrno("cannot move into place", local.string(), errno);
    if (!done)
        ::unlink(temporary.c_str());
    return done;
}

Result<std::string> InitClient::getBytes(const std::string& inside, std::size_t limit)
{
    std::string text;
    auto done = download(inside, [&](std::string_view bytes) -> Status {
        if (text.size() + bytes.size() > limit)
            return fail("sandbox.too_large", inside + " is larger than " + std::to_string(limit) + " bytes");
        text.append(bytes);
        return {};
    });
    if (!done)
        return fail(done.error());
    return text;
}

Result<FilePart> InitClient::getPart(const std::string& inside, std::int64_t from, std::size_t limit)
{
    Exchange exchange(*this);
    const auto credit = std::min<std::int64_t>(static_cast<std::int64_t>(limit), downloadWindow);
    GB_TRY(exchange.send(Json{{"t", "file.get"}, {"path", inside}, {"from", from}, {"credit", credit}}));
    FilePart part;
    while (true) {
        const auto received = exchange.next();
        if (!received)
            return fail(received.error());
        const std::string kind = stringOr(received->message, "t");
        if (kind == "info")
            part.size = integerOr(received->message, "size");
        else if (kind == "data")
            part.bytes += received->attachment;
        if (kind == "end")
            return part;
        if (part.bytes.size() >= limit || (kind == "info" && limit == 0))
            break;
    }
    (void)exchange.send(Json{{"t", "cancel"}});
    return part;
}

Result<Json> InitClient::list(const std::string& folder, const std::string& after)
{
    auto answer = ask(Json{{"t", "file.list"}, {"path", folder}, {"after", after}});
    return std::move(answer).map([](Received received) { return std::move(received.message); });
}

Result<Json> InitClient::stat(const std::string& path)
{
    auto answer = ask(Json{{"t", "file.stat"}, {"path", path}});
    return std::move(answer).map([](Received received) { return std::move(received.message); });
}

Status InitClient::makeFolder(const std::string& path, unsigned mode)
{
    auto answer = ask(Json{{"t", "file.mkdir"}, {"path", path}, {"mode", mode}});
    return answer ? Status() : fail(answer.error());
}

Result<Json> InitClient::meters()
{
    auto answer = ask(Json{{"t", "meters"}});
    return std::move(answer).map([](Received received) { return std::move(received.message); });
}

Result<UniqueFd> InitClient::connectPort(int port)
{
    auto answer = ask(Json{{"t", "connect"}, {"port", port}});
    if (answer && !answer->fd.valid())
        return fail("sandbox.no_descriptor", "the sandbox sent no connection");
    return std::move(answer).map([](Received received) { return std::move(received.fd); });
}

Result<UniqueFd> InitClient::connectSocket(const std::string& path)
{
    auto answer = ask(Json{{"t", "connect"}, {"path", path}});
    if (answer && !answer->fd.valid())
        return fail("sandbox.no_descriptor", "the sandbox sent no connection");
    return std::move(answer).map([](Received received) { return std::move(received.fd); });
}

Result<ListeningInside> InitClient::listenPort()
{
    auto answer = ask(Json{{"t", "listen"}});
    if (!answer)
        return fail(answer.error());
    int listens = 0;
    sockaddr_in address{};
    socklen_t flagSize = sizeof listens;
    socklen_t size = sizeof address;
    const int fd = answer->fd.get();
    if (fd < 0 || ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flagSize) != 0 || listens == 0
        || ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0
        || address.sin_family != AF_INET)
        return fail("sandbox.no_descriptor", "the sandbox sent no listening socket");
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    return ListeningInside{std::move(answer->fd), ntohs(address.sin_port)};
}

} // namespace gb
