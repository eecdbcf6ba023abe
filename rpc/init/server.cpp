// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "meters.h"

namespace gb::init {
namespace {

constexpr int protocolNumber = 1;
constexpr std::size_t mostChannels = 1024;
constexpr std::size_t standardInput = 2;

Result<UniqueFd> connectLocal(const Json& request)
{
    const std::string path = stringOr(request, "path");
    const std::int64_t port = integerOr(request, "port");
    sockaddr_un unixAddress{};
    sockaddr_in internetAddress{};
    const sockaddr* address = nullptr;
    socklen_t size = 0;
    if (!path.empty() && path.size() < sizeof unixAddress.sun_path) {
        unixAddress.sun_family = AF_UNIX;
        std::memcpy(unixAddress.sun_path, path.data(), path.size());
        address = reinterpret_cast<const sockaddr*>(&unixAddress);
        size = sizeof unixAddress;
    } else if (port > 0 && port < 65536) {
        internetAddress.sin_family = AF_INET;
        internetAddress.sin_port = htons(static_cast<std::uint16_t>(port));
        internetAddress.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address = reinterpret_cast<const sockaddr*>(&internetAddress);
        size = sizeof internetAddress;
    } else {
        return fail("init.connect", "name a port or the path of a socket");
    }
    UniqueFd socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const std::string subject = path.empty() ? "port " + std::to_string(port) : path;
    if (!socket.valid() || (::connect(socket.get(), address, size) != 0 && errno != EINPROGRESS))
        return failErrno("cannot connect to", subject, errno);
    // Loopback answers at once, unless a hostile listener never accepts: process 1 must not wait for that.
    constexpr int patienceMs = 200;
    pollfd connected{socket.get(), POLLOUT, 0};
    int error = ETIMEDOUT;
    socklen_t errorSize = sizeof error;
    if (::poll(&connected, 1, patienceMs) == 1)
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &errorSize);
    if (error != 0)
        return failErrno("cannot connect to", subject, error);
    ::fcntl(socket.get(), F_SETFL, 0); // blocking, as whoever receives it expects
    return socket;
}

Result<UniqueFd> listenLocal()
{
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!socket.valid()
        || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0
        || ::listen(socket.get(), SOMAXCONN) != 0)
        return failErrno("cannot listen on", "127.0.0.1", errno);
    return socket;
}

} // namespace

Server::Server(int linkFd, int signalFd) : m_link(linkFd), m_signalFd(signalFd) { }

void Server::run()
{
    while (!m_leaving) {
        std::vector<pollfd> polled;
        std::vector<Watched> watched;
        polled.push_back(
            {m_link.fd(), static_cast<short>(POLLIN | (m_link.wantsToWrite() ? POLLOUT : 0)), 0});
        polled.push_back({m_signalFd, POLLIN, 0});
        collect(polled, watched);
        if (::poll(polled.data(), polled.size(), waitMs()) < 0 && errno != EINTR)
            return;
        if (polled[1].revents != 0)
            reap();
        if (polled[0].revents != 0 && !(m_link.receive() && handleFrames()))
            return;
        serve(polled, watched);
        serveDownloads();
        serveUploads();
        checkDeadlines();
        std::erase_if(m_processes, [](const auto& item) { return item.second->finished(); });
        if (!m_link.flush())
            return;
    }
}

bool Server::handleFrames()
{
    for (;;) {
        auto frame = m_link.next();
        if (!frame)
            return false;
        if (!*frame) {
            m_link.dropFds();
            return true;
        }
        const auto message = parseJson((*frame)->json);
        if (!message || !message->is_object())
            return false;
        if (auto done = dispatch(*message, (*frame)->attachment); !done)
            m_link.answerError(integerOr(*message, "ch"), done.error());
    }
}

Status Server::dispatch(const Json& message, const std::string& attachment)
{
    static const std::map<std::string, Handler, std::less<>> handlers{{"hello", &Server::onHello},
        {"exec", &Server::onExec}, {"stdin", &Server::onStdin}, {"stdin.close", &Server::onStdinClose},
        {"signal", &Server::onSignal}, {"resize", &Server::onResize}, {"credit", &Server::onCredit},
        {"file.put", &Server::onPut}, {"file.get", &Server::onGet}, {"data", &Server::onData},
        {"end", &Server::onEnd}, {"cancel", &Server::onCancel}, {"file.list", &Server::onAsk},
        {"file.stat", &Server::onAsk}, {"file.mkdir", &Server::onAsk}, {"meters", &Server::onAsk},
        {"connect", &Server::onConnect}, {"listen", &Server::onListen}, {"shutdown", &Server::onShutdown}};
    const auto handler = handlers.find(stringOr(message, "t"));
    if (handler == handlers.end())
        return fail("init.unknown", "init knows no \"" + stringOr(message, "t").substr(0, 40) + "\"");
    const bool opens = message.contains("ch") && !m_processes.contains(integerOr(message, "ch"));
    if (opens && m_processes.size() + m_uploads.size() + m_downloads.size() >= mostChannels)
        return fail("init.too_many", "too many commands and transfers at once");
    return (this->*handler->second)(message, attachment);
}

Process* Server::process(const Json& message)
{
    const auto found = m_processes.find(integerOr(message, "ch"));
    return found == m_processes.end() ? nullptr : found->second.get();
}

Status Server::onHello(const Json&, const std::string&)
{
    m_link.send(Json{{"t", "hello"}, {"protocol", protocolNumber}, {"pid", ::getpid()}});
    return {};
}

Status Server::onExec(const Json& message, const std::string&)
{
    auto started = Process::start(message, m_link);
    if (!started)
        return fail(started.error());
    m_processes[integerOr(message, "ch")] = std::move(*started);
    return {};
}

Status Server::onStdin(const Json& message, const std::string& attachment)
{
    Process* target = process(message);
    return target ? target->writeStdin(attachment) : Status();
}

Status Server::onStdinClose(const Json& message, const std::string&)
{
    if (Process* target = process(message))
        target->closeStdin();
    return {};
}

Status Server::onSignal(const Json& message, const std::string&)
{
    if (const Process* target = process(message))
        target->signal(static_cast<int>(integerOr(message, "signal")));
    return {};
}

Status Server::onResize(const Json& message, const std::string&)
{
    if (Process* target = process(message))
        target->resize(
            static_cast<int>(integerOr(message, "rows")), static_cast<int>(integerOr(message, "cols")));
    return {};
}

Status Server::onCredit(const Json& message, const std::string&)
{
    constexpr std::int64_t most = 1U << 30U;
    const std::int64_t bytes = std::clamp<std::int64_t>(integerOr(message, "bytes"), 0, most);
    if (Process* target = process(message))
        target->addCredit(bytes);
    if (const auto found = m_downloads.find(integerOr(message, "ch")); found != m_downloads.end())
        found->second->addCredit(bytes);
    return {};
}

Status Server::onPut(const Json& message, const std::string&)
{
    auto started = Upload::start(message, m_link);
    if (!started)
        return fail(started.error());
    m_uploads[integerOr(message, "ch")] = std::move(*started);
    return {};
}

Status Server::onGet(const Json& message, const std::string&)
{
    auto started = Download::start(message, m_link);
    if (!started)
        return fail(started.error());
    m_downloads[integerOr(message, "ch")] = std::move(*started);
    return {};
}

Status Server::onData(const Json& message, const std::string& attachment)
{
    const auto found = m_uploads.find(integerOr(message, "ch"));
    if (found == m_uploads.end())
        return {}; // it failed, and the keeper knows or will in a moment
    auto done = found->second->write(attachment);
    if (!done)
        m_uploads.erase(found);
    return done;
}

Status Server::onEnd(const Json& message, const std::string&)
{
    const auto found = m_uploads.find(integerOr(message, "ch"));
    if (found == m_uploads.end())
        return {};
    auto done = found->second->finish();
    m_uploads.erase(found);
    return done;
}

Status Server::onCancel(const Json& message, const std::string&)
{
    m_uploads.erase(integerOr(message, "ch"));
    m_downloads.erase(integerOr(message, "ch"));
    return {};
}

Status Server::onAsk(const Json& message, const std::string&)
{
    constexpr std::size_t mostEntries = 4096;
    const std::string what = stringOr(message, "t");
    const std::string path = stringOr(message, "path");
    Result<Json> answer = Json::object();
    if (what == "file.list")
        answer = listFolder(path, stringOr(message, "after"), mostEntries);
    else if (what == "file.stat")
        answer = statPath(path);
    else if (what == "meters")
        answer = readMeters();
    else
        GB_TRY(makeFolders(path, static_cast<unsigned>(integerOr(message, "mode", 0755))));
    if (!answer)
        return fail(answer.error());
    Json reply{{"t", "ok"}, {"ch", integerOr(message, "ch")}};
    reply.update(*answer);
    m_link.send(reply);
    return {};
}

Status Server::onConnect(const Json& message, const std::string&)
{
    auto socket = connectLocal(message);
    if (!socket)
        return fail(socket.error());
    m_link.sendWithFd(Json{{"t", "ok"}, {"ch", integerOr(message, "ch")}, {"fd", true}}, std::move(*socket));
    return {};
}

Status Server::onListen(const Json& message, const std::string&)
{
    auto socket = listenLocal();
    if (!socket)
        return fail(socket.error());
    m_link.sendWithFd(Json{{"t", "ok"}, {"ch", integerOr(message, "ch")}, {"fd", true}}, std::move(*socket));
    return {};
}

Status Server::onShutdown(const Json&, const std::string&)
{
    m_leaving = true;
    return {};
}

void Server::collect(std::vector<pollfd>& polled, std::vector<Watched>& watched) const
{
    for (const auto& [channel, running] : m_processes) {
        for (std::size_t stream = 0; stream < standardInput; ++stream) {
            if (const int fd = running->readableFd(stream); fd >= 0) {
                polled.push_back({fd, POLLIN, 0});
                watched.push_back({channel, stream});
            }
        }
        if (const int fd = running->writableFd(); fd >= 0) {
            polled.push_back({fd, POLLOUT, 0});
            watched.push_back({channel, standardInput});
        }
    }
}

int Server::waitMs() const
{
    std::int64_t wait = -1;
    for (const auto& [channel, download] : m_downloads) {
        if (download->canSend())
            return 0;
    }
    for (const auto& [channel, upload] : m_uploads) {
        if (upload->hasSource())
            return 0;
    }
    for (const auto& [channel, running] : m_processes) {
        if (const auto deadline = running->deadline()) {
            const std::int64_t left = std::max<std::int64_t>(0, *deadline - nowMs());
            wait = wait < 0 ? left : std::min(wait, left);
        }
    }
    constexpr std::int64_t longest = 60000;
    return static_cast<int>(std::min(wait, longest));
}

void Server::serve(const std::vector<pollfd>& polled, const std::vector<Watched>& watched)
{
    const std::size_t first = polled.size() - watched.size();
    // Behind who came last the time before: the link takes so much at once, and who is always first would
    // have it all.
    const auto next = std::ranges::upper_bound(watched, std::pair(m_servedLast.channel, m_servedLast.stream),
        {}, [](const Watched& one) { return std::pair(one.channel, one.stream); });
    const auto turn = static_cast<std::size_t>(next - watched.begin());
    for (std::size_t i = 0; i < watched.size(); ++i) {
        const std::size_t at = (turn + i) % watched.size();
        const auto found = m_processes.find(watched[at].channel);
        if (polled[first + at].revents == 0 || found == m_processes.end())
            continue;
        if (watched[at].stream == standardInput)
            found->second->onWritable();
        else if (found->second->onReadable(watched[at].stream))
            m_servedLast = watched[at];
    }
}

void Server::serveDownloads()
{
    std::erase_if(
        m_downloads, [](const auto& item) { return item.second->canSend() && item.second->sendSome(); });
}

void Server::serveUploads()
{
    std::erase_if(m_uploads, [this](const auto& item) {
        if (!item.second->hasSource())
            return false;
        const auto copied = item.second->copySome();
        if (copied && !*copied)
            return false;
        const Status done = copied ? item.second->finish() : Status(fail(copied.error()));
        if (!done)
            m_link.answerError(item.first, done.error());
        return true;
    });
}

void Server::checkDeadlines()
{
    for (const auto& [channel, running] : m_processes) {
        if (const auto deadline = running->deadline(); deadline && *deadline <= nowMs())
            running->onDeadline();
    }
}

void Server::reap()
{
    std::array<signalfd_siginfo, 16> pending{};
    while (::read(m_signalFd, pending.data(), sizeof pending) > 0) { }
    constexpr std::int64_t kilobyte = 1024; // what the kernel counts memory in
    int status = 0;
    rusage used{};
    for (pid_t pid = ::wait4(-1, &status, WNOHANG, &used); pid > 0;
         pid = ::wait4(-1, &status, WNOHANG, &used)) {
        for (const auto& [channel, running] : m_processes) {
            if (running->pid() == pid)
                running->onExit(status, used.ru_maxrss * kilobyte);
        }
    }
}

} // namespace gb::init
