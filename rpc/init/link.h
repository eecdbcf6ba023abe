// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>

#include <backend/base/fd.h>
#include <backend/base/json.h>
#include <rpc/protocol/frame.h>

namespace gb::init {

// The one socket to the keeper. Never blocks: what does not fit waits here, and whoever produces output looks
// at congested() first, so that memory stays bounded.
class Link
{
public:
    explicit Link(int fd);

    int fd() const { return m_fd.get(); }
    bool wantsToWrite() const { return !m_queue.empty(); }
    bool congested() const;
    bool flush(); // false: the keeper is gone

    // Reads what is there; false: the keeper is gone or broke the format.
    bool receive();
    Result<std::optional<rpc::Frame>> next() { return m_reader.next(); }
    UniqueFd takeFd(); // of the frame that announced one
    void dropFds(); // between frames nobody announced any

    void send(const Json& message, std::string_view attachment = {});
    // The descriptor travels with the first byte of the frame and is closed here afterwards.
    void sendWithFd(const Json& message, UniqueFd fd);
    void answerError(std::int64_t channel, const Error& error);

private:
    struct Item
    {
        std::string bytes;
        std::size_t sent = 0;
        UniqueFd fd;
    };

    UniqueFd m_fd;
    rpc::FrameReader m_reader;
    std::deque<UniqueFd> m_arrived;
    std::deque<Item> m_queue;
    std::size_t m_queued = 0;
};

} // namespace gb::init
