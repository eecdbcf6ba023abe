// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include <rpc/keeper/loop.h>

namespace gb::rpc {

// Carries bytes between two connected sockets until both directions have ended. What one side does not take
// is not read from the other.
class PortRelay
{
public:
    PortRelay(Loop& loop, UniqueFd outside, UniqueFd inside, std::function<void()> ended);
    ~PortRelay();
    PortRelay(const PortRelay&) = delete;
    PortRelay& operator=(const PortRelay&) = delete;

private:
    struct Side
    {
        UniqueFd fd;
        std::uint64_t watch = 0;
        std::uint32_t events = 0;
        std::vector<char> outgoing; // read from the other side, not yet taken by this one
        std::size_t sent = 0;
        bool ended = false; // has said that nothing more comes from it
        bool told = false; // has been told that nothing more comes for it
    };

    void watch(std::size_t which, std::uint32_t events);
    void ready(std::size_t which, std::uint32_t events);
    bool read(Side& from, Side& to);
    bool write(Side& to, const Side& from);
    void watchAgain();

    Loop& m_loop;
    std::function<void()> m_ended;
    std::array<Side, 2> m_sides;
};

} // namespace gb::rpc
