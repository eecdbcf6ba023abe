// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <set>

#include <rpc/keeper/unixlistener.h>

#include "box.h"

namespace gb::rpc {

class BoxConnection;

// The control socket of a sandbox: for the daemon and for the interface hosts. Mode 0600, only our user is
// served.
class BoxServer
{
public:
    static Result<std::unique_ptr<BoxServer>> listen(Box& box, fs::path path);
    ~BoxServer();
    BoxServer(const BoxServer&) = delete;
    BoxServer& operator=(const BoxServer&) = delete;

    Box& box() { return m_box; }
    const fs::path& path() const { return m_listener->path(); }
    void drop(const std::shared_ptr<BoxConnection>& connection);

private:
    explicit BoxServer(Box& box) : m_box(box) { }
    void accept(UniqueFd fd);

    Box& m_box;
    std::unique_ptr<UnixListener> m_listener;
    std::set<std::shared_ptr<BoxConnection>> m_connections;
};

} // namespace gb::rpc
