// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <set>
#include <thread>

#include <rpc/keeper/loop.h>

#include "networkdial.h"

namespace gb::rpc {

class PortRelay;

// The one way out of a sandbox whose network is a list of hosts. Its listening socket was made inside, in a
// network namespace that has nothing else; what connects to it says with CONNECT (or, for plain HTTP, with
// GET or HEAD and a whole address) where it wants to go, and is let through to what the rules name. It has a
// thread of its own, so that neither a slow name server nor a busy sandbox holds up the keeper.
class NetworkProxy
{
public:
    struct Options
    {
        NetworkRules rules;
        NetworkResolver resolver = resolveName;
        // Called once for each place that was refused, from the proxy's thread.
        std::function<void(const std::string& place, const std::string& why)> onRefused;
    };

    static Result<std::unique_ptr<NetworkProxy>> start(UniqueFd listener, Options options);
    ~NetworkProxy();
    NetworkProxy(const NetworkProxy&) = delete;
    NetworkProxy& operator=(const NetworkProxy&) = delete;

private:
    struct Client;
    struct Request;
    struct Dialling;

    NetworkProxy(std::unique_ptr<Loop> loop, UniqueFd listener, Options options);
    void serve();
    void accept();
    void read(std::uint64_t number);
    void take(std::uint64_t number, std::string_view head);
    void reach(std::uint64_t number, Request request);
    void dialled(std::uint64_t number, const Request& request, Result<Dialled> dialled);
    void join(std::uint64_t number, const Request& request, Dialled dialled);
    void refuse(std::uint64_t number, const NetworkTarget& target, const std::string& why);
    void answer(std::uint64_t number, const std::string& status, const std::string& body);
    void drop(std::uint64_t number) { m_clients.erase(number); }

    std::unique_ptr<Loop> m_loop;
    UniqueFd m_listener;
    std::shared_ptr<Dialling> m_dialling;
    std::set<std::string> m_told;
    std::uint64_t m_next = 1;
    std::map<std::uint64_t, std::shared_ptr<Client>> m_clients;
    std::map<std::uint64_t, std::shared_ptr<PortRelay>> m_relays;
    std::thread m_thread;
};

} // namespace gb::rpc
