// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "portrelay.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/socket.h>

namespace gb::rpc {
namespace {

constexpr std::size_t piece = 64U << 10U;

} // namespace

PortRelay::PortRelay(Loop& loop, UniqueFd outside, UniqueFd inside, std::function<void()> ended)
    : m_loop(loop), m_ended(std::move(ended))
{
    m_sides[0].fd = std::move(outside);
    m_sides[1].fd = std::move(inside);
    for (std::size_t which = 0; which < m_sides.size(); ++which) {
        ::fcntl(m_sides[which].fd.get(), F_SETFL, O_NONBLOCK);
        m_sides[which].events = EPOLLIN;
        watch(which, EPOLLIN);
    }
}

void PortRelay::watch(std::size_t which, std::uint32_t events)
{
    m_sides[which].watch = m_loop.watch(
        m_sides[which].fd.get(), events, [this, which](std::uint32_t happened) { ready(which, happened); });
}

PortRelay::~PortRelay()
{
    for (const Side& side : m_sides)
        m_loop.unwatch(side.watch);
}

void PortRelay::ready(std::size_t which, std::uint32_t events)
{
    Side& side = m_sides[which];
    Side& other = m_sides[1 - which];
    bool good = (events & EPOLLERR) == 0U;
    if (good && (events & EPOLLOUT) != 0U)
        good = write(side, other);
    if (good && (events & (EPOLLIN | EPOLLHUP)) != 0U && !side.ended && other.outgoing.empty())
        good = read(side, other) && write(other, side);
    // A peer that is gone in both directions takes nothing more.
    if ((events & EPOLLHUP) != 0U && side.ended)
        good = false;
    if (!good || (side.told && other.told)) {
        const auto ended = m_ended; // destroys this
        return ended();
    }
    watchAgain();
}

bool PortRelay::read(Side& from, Side& to)
{
    to.outgoing.resize(piece);
    to.sent = 0;
    const ssize_t got = ::recv(from.fd.get(), to.outgoing.data(), piece, 0);
    to.outgoing.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    from.ended = got == 0;
    return got >= 0 || errno == EAGAIN || errno == EINTR;
}

bool PortRelay::write(Side& to, const Side& from)
{
    while (to.sent < to.outgoing.size()) {
        const ssize_t sent =
            ::send(to.fd.get(), to.outgoing.data() + to.sent, to.outgoing.size() - to.sent, MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        to.sent += static_cast<std::size_t>(sent);
    }
    to.outgoing.clear();
    to.sent = 0;
    if (from.ended && !to.told) {
        ::shutdown(to.fd.get(), SHUT_WR);
        to.told = true;
    }
    return true;
}

void PortRelay::watchAgain()
{
    for (std::size_t which = 0; which < m_sides.size(); ++which) {
        Side& side = m_sides[which];
        const bool mayRead = !side.ended && m_sides[1 - which].outgoing.empty();
        const std::uint32_t events =
            (mayRead ? EPOLLIN : 0U) | (side.outgoing.empty() ? 0U : static_cast<std::uint32_t>(EPOLLOUT));
        if (events == side.events)
            continue;
        // A peer that hung up is reported for as long as it is watched, wanted or not.
        if (events == 0)
            m_loop.unwatch(side.watch);
        else if (side.events == 0)
            watch(which, events);
        else
            m_loop.change(side.watch, events);
        side.events = events;
    }
}

} // namespace gb::rpc
