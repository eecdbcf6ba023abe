// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <backend/base/fd.h>
#include <rpc/protocol/frame.h>

#include "loop.h"
#include "sharedtext.h"

namespace gb::rpc {

// Frames over a stream socket in the loop, optionally with descriptors beside them. Owned by shared_ptr
// because a handler may drop the last reference to the socket that is calling it.
class FrameSocket : public std::enable_shared_from_this<FrameSocket>
{
public:
    struct Handlers
    {
        std::function<void(std::string& json, SharedText attachment)> frame = {};
        std::function<void(const std::string& reason)> closed = {}; // once, never after close()
        std::function<void()> drained = {}; // what had to wait has been sent
    };
    enum class Descriptors { Refused, Accepted };

    static std::shared_ptr<FrameSocket> create(
        Loop& loop, UniqueFd fd, FrameLimits limits, Descriptors descriptors, Handlers handlers);
    ~FrameSocket();

    void send(std::string json, const SharedText& attachment = {});
    void sendWithDescriptor(std::string json, UniqueFd descriptor);
    std::size_t unsent() const { return m_unsent; }
    bool open() const { return m_fd.valid(); }
    void close();

    // Only inside the frame handler: the descriptors this frame announced, fewer when fewer came.
    std::vector<UniqueFd> takeDescriptors(std::size_t count);

private:
    FrameSocket(Loop& loop, UniqueFd fd, FrameLimits limits, Descriptors descriptors, Handlers handlers);

    void ready(std::uint32_t events);
    void readable();
    bool parse();
    bool beginFrame();
    long receive(char* to, std::size_t size);
    void flush();
    long sendSome();
    void fail(const std::string& reason);

    Loop& m_loop;
    UniqueFd m_fd;
    FrameLimits m_limits;
    Descriptors m_descriptors;
    Handlers m_handlers;
    std::uint64_t m_watch = 0;
    bool m_watchingWrites = false;

    std::vector<char> m_buffer; // bytes not yet cut into frames: [m_start, m_end)
    std::size_t m_start = 0;
    std::size_t m_end = 0;
    // A frame whose attachment is larger than the buffer is received straight into its own memory.
    std::string m_json;
    std::shared_ptr<char[]> m_attachment;
    std::size_t m_attachmentSize = 0;
    std::size_t m_attachmentGot = 0;
    std::deque<UniqueFd> m_received;

    struct Outgoing
    {
        SharedText bytes;
        UniqueFd descriptor = {}; // goes with the first byte
    };
    std::deque<Outgoing> m_queue;
    std::size_t m_unsent = 0;
};

} // namespace gb::rpc
