// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "networkproxy.h"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include <sys/socket.h>

#include <backend/base/log.h>

#include "networkrequest.h"
#include "portrelay.h"

namespace gb::rpc {
namespace {

constexpr std::size_t mostConnections = 256;
constexpr int mostDialling = 32;
constexpr std::size_t longestHead = 16U << 10U;
constexpr std::int64_t headMs = 15'000;
constexpr std::size_t mostTold = 200;

std::string howToAllow(const NetworkTarget& target)
{
    constexpr int usualPort = 443;
    const std::string entry = target.port == usualPort ? target.host : target.text();
    return "To allow it, add \"" + entry
        + "\" to the sandbox's network list: Network in the form, network = [...] in "
          "experiment.toml, --network for the command line; then start it again.\n";
}

} // namespace

struct NetworkProxy::Client
{
    explicit Client(Loop& owner) : loop(owner) { }
    ~Client()
    {
        loop.unwatch(watch);
        loop.cancelTimer(timer);
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    Loop& loop;
    UniqueFd fd;
    std::string head;
    std::uint64_t watch = 0;
    std::uint64_t timer = 0;
};

struct NetworkProxy::Request
{
    NetworkTarget target;
    NetworkRule rule;
    std::optional<NetworkRequest> plain; // a plain request, to be handed on in other words
    std::string early; // what came behind the head
};

// What the threads that connect share with us. A name server may take its time, and nobody's end waits for
// it: those threads belong to nobody, and find out afterwards whether there still is a proxy.
struct NetworkProxy::Dialling
{
    Options options;
    int running = 0; // the proxy's thread only
    std::mutex mutex;
    NetworkProxy* proxy = nullptr;
};

NetworkProxy::NetworkProxy(std::unique_ptr<Loop> loop, UniqueFd listener, Options options)
    : m_loop(std::move(loop)), m_listener(std::move(listener)), m_dialling(std::make_shared<Dialling>())
{
    m_dialling->options = std::move(options);
    m_dialling->proxy = this;
}

Result<std::unique_ptr<NetworkProxy>> NetworkProxy::start(UniqueFd listener, Options options)
{
    auto loop = Loop::create();
    if (!loop)
        return fail(loop.error());
    std::unique_ptr<NetworkProxy> proxy(
        new NetworkProxy(std::move(*loop), std::move(listener), std::move(options)));
    proxy->m_thread = std::thread([self = proxy.get()] { self->serve(); });
    return proxy;
}

NetworkProxy::~NetworkProxy()
{
    m_loop->post([this] { m_loop->stop(); });
    m_thread.join();
    {
        const std::lock_guard lock(m_dialling->mutex);
        m_dialling->proxy = nullptr;
    }
    m_clients.clear();
    m_relays.clear();
}

void NetworkProxy::serve()
{
    m_loop->watch(m_listener.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
    m_loop->run();
}

void NetworkProxy::accept()
{
    UniqueFd fd(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid() || m_clients.size() + m_relays.size() >= mostConnections)
        return;
    const std::uint64_t number = m_next++;
    const auto client = std::make_shared<Client>(*m_loop);
    client->fd = std::move(fd);
    client->watch = m_loop->watch(client->fd.get(), EPOLLIN, [this, number](std::uint32_t) { read(number); });
    client->timer = m_loop->after(headMs, [this, number] { drop(number); });
    m_clients[number] = client;
}

void NetworkProxy::read(std::uint64_t number)
{
    const auto client = m_clients.at(number);
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(client->fd.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        return drop(number);
    client->head.append(buffer.data(), static_cast<std::size_t>(got));
    const auto end = client->head.find("\r\n\r\n");
    if (end == std::string::npos) {
        if (client->head.size() > longestHead)
            answer(number, "431 Request Header Fields Too Large", "The request's head is too large.\n");
        return;
    }
    m_loop->unwatch(std::exchange(client->watch, 0));
    m_loop->cancelTimer(std::exchange(client->timer, 0));
    take(number, std::string_view(client->head).substr(0, end + 2));
}

void NetworkProxy::take(std::uint64_t number, std::string_view head)
{
    auto parsed = NetworkRequest::parse(head);
    if (!parsed)
        return answer(number, "400 Bad Request", parsed.error().message + "\n");
    const NetworkRule* rule = m_dialling->options.rules.find(parsed->target);
    if (!rule)
        return refuse(number, parsed->target, "is not on the sandbox's network list");
    Request request{parsed->target, *rule, std::nullopt, {}};
    const std::string& whole = m_clients.at(number)->head;
    if (parsed->isTunnel) {
        request.early = whole.substr(head.size() + 2);
    } else if (whole.size() > head.size() + 2) {
        return answer(number, "400 Bad Request", "Only requests without a body are handed on.\n");
    } else {
        request.plain = std::move(*parsed);
    }
    reach(number, std::move(request));
}

void NetworkProxy::reach(std::uint64_t number, Request request)
{
    if (m_dialling->running >= mostDialling)
        return answer(number, "503 Service Unavailable", "Too many connections are being made at once.\n");
    ++m_dialling->running;
    std::thread([number, shared = m_dialling, request = std::move(request)]() mutable {
        const auto use = request.plain ? NetworkUse::PlainRequest : NetworkUse::Tunnel;
        auto dialled = std::make_shared<Result<Dialled>>(
            dial(request.target, request.rule, shared->options.rules, use, shared->options.resolver));
        const std::lock_guard lock(shared->mutex);
        if (NetworkProxy* proxy = shared->proxy)
            proxy->m_loop->post([proxy, number, dialled, request = std::move(request)] {
                proxy->dialled(number, request, std::move(*dialled));
            });
    }).detach();
}

void NetworkProxy::dialled(std::uint64_t number, const Request& request, Result<Dialled> dialled)
{
    --m_dialling->running;
    if (!m_clients.contains(number))
        return;
    if (dialled)
        return join(number, request, std::move(*dialled));
    if (dialled.error().code == "network.refused")
        return refuse(number, request.target, dialled.error().message);
    answer(number, "502 Bad Gateway", dialled.error().message + "\n");
}

void NetworkProxy::join(std::uint64_t number, const Request& request, Dialled dialled)
{
    const auto& upstream = m_dialling->options.rules.upstream;
    const std::string first = request.plain
        ? request.plain->handedOn(dialled.isProxy && upstream ? upstream->authorization() : std::string(),
            dialled.isProxy ? NetworkRequest::For::Proxy : NetworkRequest::For::Server)
        : request.early;
    const std::string established = request.plain ? "" : "HTTP/1.1 200 Connection established\r\n\r\n";
    const UniqueFd& inside = m_clients.at(number)->fd;
    // Both are new and their buffers empty: this little fits.
    const bool isSent = ::send(dialled.socket.get(), first.data(), first.size(), MSG_NOSIGNAL)
            == static_cast<ssize_t>(first.size())
        && ::send(inside.get(), established.data(), established.size(), MSG_NOSIGNAL)
            == static_cast<ssize_t>(established.size());
    UniqueFd client = std::move(m_clients.at(number)->fd);
    drop(number);
    if (isSent)
        m_relays[number] = std::make_shared<PortRelay>(*m_loop, std::move(dialled.socket), std::move(client),
            [this, number] { m_relays.erase(number); });
}

void NetworkProxy::refuse(std::uint64_t number, const NetworkTarget& target, const std::string& why)
{
    const bool isNew = m_told.size() < mostTold && m_told.insert(target.text()).second;
    if (isNew && m_dialling->options.onRefused)
        m_dialling->options.onRefused(target.text(), why);
    // Programs show the status line and seldom the body.
    answer(number, "403 " + target.text() + " is not on the network list of this sandbox",
        "This sandbox may not reach " + target.text() + " (" + why + ").\n" + howToAllow(target));
}

void NetworkProxy::answer(std::uint64_t number, const std::string& status, const std::string& body)
{
    const auto client = m_clients.at(number);
    const std::string text = "HTTP/1.1 " + status
        + "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: "
        + std::to_string(body.size()) + "\r\n\r\n" + body;
    (void)!::send(client->fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    // A connection with unread bytes is reset when it is closed, which would take the answer with it.
    ::shutdown(client->fd.get(), SHUT_WR);
    constexpr std::int64_t lingerMs = 1'000;
    m_loop->unwatch(std::exchange(client->watch, 0));
    m_loop->cancelTimer(client->timer);
    client->timer = m_loop->after(lingerMs, [this, number] { drop(number); });
    client->watch = m_loop->watch(client->fd.get(), EPOLLIN, [this, number](std::uint32_t) {
        std::array<char, 4096> ignored{};
        if (::recv(m_clients.at(number)->fd.get(), ignored.data(), ignored.size(), 0) <= 0)
            drop(number);
    });
}

} // namespace gb::rpc
