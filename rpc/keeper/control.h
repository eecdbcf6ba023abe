// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <rpc/protocol/message.h>

#include "keeper.h"
#include "unixlistener.h"

namespace gb::rpc {

// Where the host is to be reached; what keeper.hello tells beside the keeper's own state.
struct HostAddress
{
    std::string url;
    std::string socket;
    std::string tokenFile;
};

class ControlConnection;

// The control socket: the daemon's (and a test's) way to a keeper. Mode 0600, only our own user is served.
class ControlServer
{
public:
    static Result<std::unique_ptr<ControlServer>> listen(
        Keeper& keeper, const fs::path& path, HostAddress address, std::function<void()> onShutdown);
    ~ControlServer();

    const HostAddress& address() const { return m_address; }
    Keeper& keeper() { return m_keeper; }
    void shutdownRequested() { m_onShutdown(); }
    void drop(const std::shared_ptr<ControlConnection>& connection);

private:
    ControlServer(Keeper& keeper, HostAddress address, std::function<void()> onShutdown)
        : m_keeper(keeper), m_address(std::move(address)), m_onShutdown(std::move(onShutdown))
    { }

    void accept(UniqueFd fd);

    Keeper& m_keeper;
    HostAddress m_address;
    std::function<void()> m_onShutdown;
    std::unique_ptr<UnixListener> m_listener;
    std::set<std::shared_ptr<ControlConnection>> m_connections;
};

} // namespace gb::rpc
