// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <set>

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
    const fs::path& path() const { return m_path; }
    void drop(const std::shared_ptr<BoxConnection>& connection);

private:
    BoxServer(Box& box, fs::path path) : m_box(box), m_path(std::move(path)) { }
    void accept();

    Box& m_box;
    fs::path m_path;
    UniqueFd m_listener;
    std::uint64_t m_watch = 0;
    std::set<std::shared_ptr<BoxConnection>> m_connections;
};

} // namespace gb::rpc
