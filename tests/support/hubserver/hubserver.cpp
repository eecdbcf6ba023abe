// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "hubserver.h"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <backend/base/clock.h>

#include "hubanswer.h"

namespace gb::test {
namespace {

bool sendAll(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

std::string lower(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

HubRequest parseRequest(std::string_view head)
{
    HubRequest request;
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const auto space = line.find(' ');
    request.method = line.substr(0, space);
    request.path = line.substr(space + 1, line.rfind(' ') - space - 1);
    head.remove_prefix(line.size() + 2);
    while (!head.empty()) {
        const std::string_view field = head.substr(0, head.find("\r\n"));
        const auto colon = field.find(':');
        if (colon == std::string_view::npos)
            break;
        auto value = field.substr(colon + 1);
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        request.headers[lower(std::string(field.substr(0, colon)))] = value;
        head.remove_prefix(std::min(field.size() + 2, head.size()));
    }
    return request;
}

} // namespace

struct HubServer::Client
{
    int fd = -1;
    std::atomic<bool> finished = false;
    std::thread thread;
};

std::string HubRequest::header(const std::string& name) const
{
    const auto it = headers.find(name);
    return it == headers.end() ? std::string() : it->second;
}

HubServer::HubServer()
{
    m_listen = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(m_listen, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(m_listen, 128) != 0
        || ::getsockname(m_listen, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        std::abort();
    m_port = ntohs(address.sin_port);
    m_thread = std::thread([this] { acceptLoop(); });
}

HubServer::~HubServer()
{
    m_stopping = true;
    ::shutdown(m_listen, SHUT_RDWR);
    m_thread.join();
    ::close(m_listen);
    for (const auto& client : m_clients)
        ::shutdown(client->fd, SHUT_RDWR);
    for (const auto& client : m_clients) {
        client->thread.join();
        ::close(client->fd);
    }
}

std::string HubServer::url() const
{
    return "http://127.0.0.1:" + std::to_string(m_port);
}

HubRepo& HubServer::addRepo(const std::string& name)
{
    const std::lock_guard lock(m_mutex);
    HubRepo& repo = m_repos[name];
    repo.commit = sha256Of(name).substr(0, 40);
    return repo;
}

void HubServer::addFault(Fault fault)
{
    const std::lock_guard lock(m_mutex);
    m_faults.push_back(std::move(fault));
}

void HubServer::clearFaults()
{
    const std::lock_guard lock(m_mutex);
    m_faults.clear();
}

std::vector<HubRequest> HubServer::requests() const
{
    const std::lock_guard lock(m_mutex);
    return m_requests;
}

void HubServer::forgetRequests()
{
    const std::lock_guard lock(m_mutex);
    m_requests.clear();
}

void HubServer::acceptLoop()
{
    while (!m_stopping) {
        const int fd = ::accept4(m_listen, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        auto client = std::make_unique<Client>();
        client->fd = fd;
        Client* raw = client.get();
        const std::lock_guard lock(m_mutex);
        for (auto it = m_clients.begin(); it != m_clients.end();) {
            if (!(*it)->finished) {
                ++it;
                continue;
            }
            (*it)->thread.join();
            ::close((*it)->fd);
            it = m_clients.erase(it);
        }
        m_clients.push_back(std::move(client));
        raw->thread = std::thread([this, raw] { serve(raw); });
    }
}

void HubServer::serve(Client* client)
{
    m_mostConnections = std::max<int>(m_mostConnections, ++m_connections);
    std::string buffer;
    char piece[8192];
    while (!m_stopping) {
        const auto end = buffer.find("\r\n\r\n");
        if (end == std::string::npos) {
            const ssize_t n = ::recv(client->fd, piece, sizeof piece, 0);
            if (n <= 0)
                break;
            buffer.append(piece, static_cast<std::size_t>(n));
            continue;
        }
        const HubRequest request = parseRequest(std::string_view(buffer).substr(0, end + 2));
        buffer.erase(0, end + 4);
        if (!answerOne(client->fd, request))
            break;
    }
    ::shutdown(client->fd, SHUT_RDWR);
    --m_connections;
    client->finished = true;
}

std::optional<Fault> HubServer::takeFault(const HubRequest& request)
{
    const std::string path = request.path.substr(0, request.path.find('?'));
    for (auto it = m_faults.begin(); it != m_faults.end(); ++it) {
        if (!path.ends_with(it->path) || (!it->method.empty() && it->method != request.method))
            continue;
        Fault fault = *it;
        if (it->times > 0 && --it->times == 0)
            m_faults.erase(it);
        return fault;
    }
    return std::nullopt;
}

bool HubServer::answerOne(int fd, const HubRequest& request)
{
    std::optional<Fault> fault;
    Answer answer;
    {
        const std::lock_guard lock(m_mutex);
        m_requests.push_back(request);
        fault = takeFault(request);
        answer = route(request);
    }
    if (fault && fault->kind == Fault::Kind::Close)
        return false;
    if (fault && fault->kind == Fault::Kind::Status)
        answer = Answer{.status = fault->status, .headers = fault->headers, .text = "refused"};
    else if (fault)
        answer.apply(*fault);
    std::uint64_t first = 0;
    std::uint64_t count = answer.bodySize();
    answer.applyRange(request.header("range"), fault, first, count);
    if (!sendAll(fd, answer.head(count)))
        return false;
    if (request.method == "HEAD" || count == 0)
        return true;
    return sendBody(fd, answer, fault, first, first + count);
}

bool HubServer::idle(int fd, int milliseconds) const
{
    // Ends early when the client gives up or the server stops.
    pollfd waiting{fd, POLLIN | POLLRDHUP, 0};
    for (int waited = 0; waited < milliseconds && !m_stopping; waited += 20) {
        if (::poll(&waiting, 1, 20) > 0)
            return false;
    }
    return !m_stopping;
}

bool HubServer::sendBody(
    int fd, const Answer& answer, const std::optional<Fault>& fault, std::uint64_t first, std::uint64_t last)
{
    std::string chunk;
    const std::int64_t started = monotonicNs();
    std::uint64_t sent = 0;
    for (std::uint64_t at = first; at < last;) {
        std::uint64_t count = std::min<std::uint64_t>(last - at, 128U << 10U);
        const bool stops = fault && fault->stopsMidway();
        if (stops && sent >= fault->bytes) {
            if (fault->kind == Fault::Kind::Cut)
                return false;
            if (fault->kind == Fault::Kind::Stall)
                return idle(fd, 60'000) && false;
            if (!idle(fd, 20))
                return false;
            count = 1;
        } else if (stops) {
            count = std::min<std::uint64_t>(count, fault->bytes - sent);
        }
        chunk.resize(static_cast<std::size_t>(count));
        answer.read(at, chunk);
        if (fault && fault->kind == Fault::Kind::FlipBit && fault->bytes >= at && fault->bytes < at + count)
            chunk[static_cast<std::size_t>(fault->bytes - at)] ^= 4;
        if (!sendAll(fd, chunk))
            return false;
        at += count;
        sent += count;
        m_sent += answer.file ? count : 0;
        if (const std::int64_t rate = m_rate; rate > 0) {
            const std::int64_t due = started
                + static_cast<std::int64_t>(static_cast<double>(sent) / static_cast<double>(rate) * 1e9);
            if (const std::int64_t early = due - monotonicNs(); early > 1'000'000) {
                const timespec nap{early / 1'000'000'000, early % 1'000'000'000};
                ::nanosleep(&nap, nullptr);
            }
        }
        if (m_stopping)
            return false;
    }
    return true;
}

} // namespace gb::test
