// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "unixlistener.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace gb::rpc {

Result<UniqueFd> listenUnix(const fs::path& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.size() >= sizeof address.sun_path)
        return fail("host.socket_path", "the path of a socket may have 107 bytes: " + text);
    std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    std::error_code ignored;
    if (fs::is_socket(fs::symlink_status(path, ignored)))
        fs::remove(path, ignored);
    const mode_t before = ::umask(0177);
    const int bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::umask(before);
    if (bound != 0 || ::listen(fd.get(), 64) != 0)
        return failErrno("cannot listen on", text, errno);
    return fd;
}

bool peerIsOurUser(int fd)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
        && (peer.uid == ::geteuid() || peer.uid == 0);
}

Result<std::unique_ptr<UnixListener>> UnixListener::listen(
    Loop& loop, fs::path path, std::function<void(UniqueFd)> accepted)
{
    auto fd = listenUnix(path);
    if (!fd)
        return fail(fd.error());
    return std::unique_ptr<UnixListener>(
        new UnixListener(loop, std::move(path), std::move(*fd), std::move(accepted)));
}

UnixListener::UnixListener(Loop& loop, fs::path path, UniqueFd fd, std::function<void(UniqueFd)> accepted)
    : m_loop(loop), m_path(std::move(path)), m_fd(std::move(fd)), m_accepted(std::move(accepted)),
      m_watch(loop.watch(m_fd.get(), EPOLLIN, [this](std::uint32_t) { accept(); }))
{ }

UnixListener::~UnixListener()
{
    m_loop.unwatch(m_watch);
    std::error_code ignored;
    fs::remove(m_path, ignored);
}

void UnixListener::accept()
{
    UniqueFd fd(::accept4(m_fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.valid() && peerIsOurUser(fd.get()))
        m_accepted(std::move(fd));
}

} // namespace gb::rpc
