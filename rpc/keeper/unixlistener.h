// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include <backend/base/fd.h>
#include <backend/base/files.h>

#include "loop.h"

namespace gb::rpc {

// A 0600 listening UNIX socket; an old file of ours at the path is replaced.
Result<UniqueFd> listenUnix(const fs::path& path);
bool peerIsOurUser(int fd);

// Such a socket on a loop, for programs of our own user only; its file goes when it does.
class UnixListener
{
public:
    static Result<std::unique_ptr<UnixListener>> listen(
        Loop& loop, fs::path path, std::function<void(UniqueFd)> accepted);
    ~UnixListener();
    UnixListener(const UnixListener&) = delete;
    UnixListener& operator=(const UnixListener&) = delete;

    const fs::path& path() const { return m_path; }

private:
    UnixListener(Loop& loop, fs::path path, UniqueFd fd, std::function<void(UniqueFd)> accepted);
    void accept();

    Loop& m_loop;
    fs::path m_path;
    UniqueFd m_fd;
    std::function<void(UniqueFd)> m_accepted;
    std::uint64_t m_watch = 0;
};

} // namespace gb::rpc
