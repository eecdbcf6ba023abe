// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <vector>

#include <poll.h>

#include "files.h"
#include "link.h"
#include "process.h"

namespace gb::init {

// The loop of process 1: one keeper, many channels, and every orphan.
class Server
{
public:
    Server(int linkFd, int signalFd);

    // Returns when the keeper says so or is gone; what runs inside dies with this process.
    void run();

private:
    struct Watched
    {
        std::int64_t channel = 0;
        std::size_t stream = 0; // 2: standard input
    };
    using Handler = Status (Server::*)(const Json& message, const std::string& attachment);

    bool handleFrames();
    Status dispatch(const Json& message, const std::string& attachment);
    Status onHello(const Json& message, const std::string& attachment);
    Status onExec(const Json& message, const std::string& attachment);
    Status onStdin(const Json& message, const std::string& attachment);
    Status onStdinClose(const Json& message, const std::string& attachment);
    Status onSignal(const Json& message, const std::string& attachment);
    Status onResize(const Json& message, const std::string& attachment);
    Status onCredit(const Json& message, const std::string& attachment);
    Status onPut(const Json& message, const std::string& attachment);
    Status onGet(const Json& message, const std::string& attachment);
    Status onData(const Json& message, const std::string& attachment);
    Status onEnd(const Json& message, const std::string& attachment);
    Status onCancel(const Json& message, const std::string& attachment);
    Status onAsk(const Json& message, const std::string& attachment);
    Status onConnect(const Json& message, const std::string& attachment);
    Status onListen(const Json& message, const std::string& attachment);
    Status onShutdown(const Json& message, const std::string& attachment);

    void collect(std::vector<pollfd>& polled, std::vector<Watched>& watched) const;
    int waitMs() const;
    void serve(const std::vector<pollfd>& polled, const std::vector<Watched>& watched);
    void serveDownloads();
    void serveUploads();
    void checkDeadlines();
    void reap();
    Process* process(const Json& message);

    Link m_link;
    int m_signalFd;
    bool m_leaving = false;
    std::map<std::int64_t, std::unique_ptr<Process>> m_processes;
    Watched m_servedLast;
    std::map<std::int64_t, std::unique_ptr<Upload>> m_uploads;
    std::map<std::int64_t, std::unique_ptr<Download>> m_downloads;
};

} // namespace gb::init
