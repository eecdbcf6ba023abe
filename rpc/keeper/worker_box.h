// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "framesocket.h"
#include "hostconfig.h"
#include "worker_process.h"

namespace gb::rpc {

// To the sandbox's keeper, by its control socket; "sandbox.gone" when nobody is there.
Result<UniqueFd> connectToSandbox(const std::string& path);

// A worker inside a sandbox, had from the sandbox's keeper (rpc/box/README.md) over a connection of its own:
// the keeper starts the process and hands out the other end of its link, everything the two say to each other
// passes the keeper by. When that connection ends, so does the worker, and with the keeper's end the sandbox
// is gone.
class BoxWorker : public WorkerHome
{
public:
    struct Linked
    {
        std::function<void(UniqueFd link, const Json& secrets)> linked;
        std::function<void(const Error& error)>
            refused; // there will be no worker; kill() still reports its end
    };

    static Result<std::unique_ptr<BoxWorker>> start(
        Loop& loop, const HostConfig& config, Linked linked, Handlers handlers);
    ~BoxWorker() override;

    int pid() const override { return m_pid; }
    void kill(int signal) override;
    void killRest() override;
    void bringFile(std::function<void(const Status&)> done) override;
    void setBusy(bool busy) override;

private:
    using Answered = std::function<void(const Result<Json>&)>;

    BoxWorker(Loop& loop, const HostConfig& config, Linked linked, Handlers handlers)
        : m_loop(loop), m_config(config), m_linked(std::move(linked)), m_handlers(std::move(handlers))
    { }

    void ask(const char* method, const Json& params, Answered answered);
    void frame(std::string& json, const SharedText& attachment);
    void notified(std::string_view method, const Json& params, std::string_view bytes);
    void sendSignal(int signal);
    void begin();
    void takeLink(const Json& result);
    void touch();
    void endWithSandbox(std::string_view reason);
    void end(const WorkerExit& exit);

    Loop& m_loop;
    const HostConfig& m_config;
    Linked m_linked;
    Handlers m_handlers;
    std::shared_ptr<FrameSocket> m_socket;
    std::int64_t m_nextId = 1;
    std::unordered_map<std::int64_t, Answered> m_asked;
    int m_pid = -1; // inside
    bool m_ended = false;
    bool m_killed = false; // by us
    LastLines m_lastLines;
    bool m_busy = false;
    bool m_used = false; // since the keeper was last told
    std::uint64_t m_touchTimer = 0;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);
};

} // namespace gb::rpc
