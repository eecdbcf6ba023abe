// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <backend/base/fd.h>
#include <backend/base/files.h>
#include <rpc/protocol/frame.h>
#include <rpc/protocol/message.h>

namespace gb {

// A provider's connection to the control socket of a sandbox's keeper: one request at a time, blocking, from
// one thread. A wait ends with "cancelled" soon after `isCancelled` says so.
class BoxClient
{
public:
    struct Reply
    {
        Json body;
        std::string attachment;
    };
    using Heard = std::function<void(const rpc::Message& notification, const std::string& attachment)>;

    static Result<BoxClient> connect(const fs::path& socket, std::function<bool()> isCancelled = {});

    // Says hello and makes sure that it is this sandbox which answers.
    Status greet(const std::string& id, const std::string& nonce);
    Result<Reply> request(
        std::string_view method, const Json& params, const Heard& onHeard = {}, std::int64_t timeoutMs = 0);
    struct Ended
    {
        int code = -1;
        std::string errors; // the last of what it wrote there
    };
    // A shell command in a folder, to its end.
    Result<Ended> run(const std::string& script, const std::string& folder,
        const std::function<void(std::string_view)>& onOutput);
    // Of the process behind the socket.
    Result<pid_t> peer() const;
    // True when the other side has gone within the time.
    bool waitForEnd(std::int64_t timeoutMs);

private:
    BoxClient(UniqueFd socket, std::function<bool()> isCancelled);
    Status send(std::string_view frame);
    Result<rpc::Frame> receive(std::int64_t deadlineMs);

    UniqueFd m_socket;
    std::function<bool()> m_isCancelled;
    rpc::FrameReader m_reader;
    std::int64_t m_next = 1;
};

} // namespace gb
