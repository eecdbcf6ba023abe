// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <memory>
#include <optional>

#include <sys/types.h>

#include "link.h"

namespace gb::init {

// One command and its streams.
class Process
{
public:
    static Result<std::unique_ptr<Process>> start(const Json& request, Link& link);
    ~Process();

    std::int64_t channel() const { return m_channel; }
    pid_t pid() const { return m_pid; }
    bool finished() const { return m_reported && m_streams[0].fd.get() < 0 && m_streams[1].fd.get() < 0; }

    void addCredit(std::int64_t bytes) { m_credit += bytes; }
    Status writeStdin(std::string_view bytes);
    void closeStdin();
    void resize(int rows, int columns);
    void signal(int number) const;

    // The descriptors to poll, if anything could be done with them now.
    int readableFd(std::size_t stream) const;
    int writableFd() const { return m_pendingStdin.empty() ? -1 : m_stdin.get(); }
    bool onReadable(std::size_t stream); // whether something was sent of it
    void onWritable();
    void onExit(int status, std::int64_t mostMemory);

    std::optional<std::int64_t> deadline() const { return m_deadline; }
    void onDeadline();

private:
    struct Stream
    {
        const char* name = "";
        UniqueFd fd;
    };

    Process(std::int64_t channel, Link& link) : m_channel(channel), m_link(link) { }
    Status launch(const Json& request);
    // Reads until the stream is empty for now, or about `most` bytes; true when nothing is left to come
    // before the exit is told.
    bool drain(Stream& stream, std::size_t most);
    void reportExitWhenDrained();

    std::int64_t m_channel;
    Link& m_link;
    pid_t m_pid = -1;
    bool m_pty = false;
    std::array<Stream, 2> m_streams{Stream{"stdout", {}}, Stream{"stderr", {}}};
    UniqueFd m_stdin;
    std::string m_pendingStdin;
    bool m_closeStdin = false;
    std::int64_t m_credit = 0;
    std::optional<std::int64_t> m_deadline;
    std::optional<int> m_status;
    std::int64_t m_mostMemory = 0; // bytes it held at a time
    bool m_timedOut = false;
    bool m_reported = false;
};

std::int64_t nowMs();

} // namespace gb::init
