// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>

#include <rpc/launch/initclient.h>

#include "inbackground.h"

namespace gb::rpc {

class PortRelay;

struct BoxPort
{
    std::string id;
    int port = 0; // on the sandbox's 127.0.0.1, or
    std::string path; // a UNIX socket inside
    fs::path socket; // where it can be reached outside, or
    int tcpPort = 0; // on our 127.0.0.1: any user of this machine reaches it

    Json toJson() const;
};

// Ways into the sandbox: a UNIX socket in a 0700 folder (or, when asked, a TCP port) outside for a port or
// socket inside. Every connection is made anew through init and carried by the loop.
class BoxPorts
{
public:
    BoxPorts(Loop& loop, InitClient& init, fs::path folder);
    ~BoxPorts();
    BoxPorts(const BoxPorts&) = delete;
    BoxPorts& operator=(const BoxPorts&) = delete;

    Result<BoxPort> open(BoxPort port, bool tcp);
    bool close(const std::string& id);
    Json list() const;
    std::size_t connections() const { return m_relays.size() + m_connecting; }

private:
    struct Listener
    {
        BoxPort port;
        UniqueFd fd;
        std::uint64_t watch = 0;
    };

    void accept(const std::string& id);
    void join(const std::string& id, UniqueFd outside, Result<UniqueFd> inside);
    void shut(Listener& listener);

    Loop& m_loop;
    InitClient& m_init;
    fs::path m_folder;
    std::map<std::string, Listener> m_listeners;
    std::map<std::uint64_t, std::pair<std::string, std::shared_ptr<PortRelay>>> m_relays;
    std::uint64_t m_nextRelay = 1;
    std::size_t m_connecting = 0;
    Background m_threads; // of its own: a server inside that is slow to accept holds up other ports only
};

} // namespace gb::rpc
