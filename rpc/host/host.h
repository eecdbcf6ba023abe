// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include <rpc/keeper/control.h>
#include <rpc/server/router.h>

namespace gb::rpc {

// Puts a host together: keeper, HTTP front, control socket, token files, and what ends it.
class Host
{
public:
    static Result<std::unique_ptr<Host>> create(Loop& loop, HostConfig config);
    ~Host();

    // Ends on SIGINT, SIGTERM, and when the descriptor (of whoever started us) reports its end.
    Status start(int lifeline);
    void stop();

private:
    class ReadyWatch;

    Host(Loop& loop, std::unique_ptr<Keeper> keeper);
    Status writeToken();
    Status listen();
    Status watchSignals();
    void watchLifeline(int fd);
    void watchFile();
    void printReady();

    Loop& m_loop;
    std::unique_ptr<Keeper> m_keeper;
    std::unique_ptr<Router> m_router;
    std::unique_ptr<HttpServer> m_http;
    std::unique_ptr<ControlServer> m_control;
    std::unique_ptr<ReadyWatch> m_ready;
    HostAddress m_address;
    std::string m_controlPath;
    std::string m_compatSecret;
    UniqueFd m_signals;
    std::string m_fileStamp;
};

} // namespace gb::rpc
