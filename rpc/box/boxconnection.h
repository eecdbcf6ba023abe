// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>

#include <rpc/keeper/framesocket.h>
#include <rpc/keeper/requestgatherer.h>

#include "boxserver.h"

namespace gb::rpc {

// Somebody on the control socket of a sandbox. Commands outlive it; its worker does not.
class BoxConnection : public BoxObserver, public std::enable_shared_from_this<BoxConnection>
{
public:
    explicit BoxConnection(BoxServer& server);
    ~BoxConnection() override;

    void open(UniqueFd fd);
    void close();

    void commandChanged(const BoxCommandPtr& command) override;
    void ending(const char* reason, std::int64_t seconds) override;
    void ended(const char* reason) override;

private:
    struct Following // a command whose output goes out as it comes in
    {
        BoxCommandPtr command;
        std::map<std::string, std::size_t> sent;
    };

    static const RequestMethods<BoxConnection>& methods();
    void frame(std::string& json, SharedText attachment);

    // boxconnection.cpp: the sandbox itself
    void hello(std::int64_t id, const Json& params, SharedText attachment);
    void touch(std::int64_t id, const Json& params, SharedText attachment);
    void extend(std::int64_t id, const Json& params, SharedText attachment);
    void stop(std::int64_t id, const Json& params, SharedText attachment);
    // boxconnection_commands.cpp
    void exec(std::int64_t id, const Json& params, SharedText attachment);
    void wait(std::int64_t id, const Json& params, SharedText attachment);
    void output(std::int64_t id, const Json& params, SharedText attachment);
    void commands(std::int64_t id, const Json& params, SharedText attachment);
    void input(std::int64_t id, const Json& params, SharedText attachment);
    void signal(std::int64_t id, const Json& params, SharedText attachment);
    void resize(std::int64_t id, const Json& params, SharedText attachment);
    // boxconnection_files.cpp
    void put(std::int64_t id, const Json& params, SharedText attachment);
    void putFolder(std::int64_t id, const Json& params, SharedText attachment);
    void get(std::int64_t id, const Json& params, SharedText attachment);
    void list(std::int64_t id, const Json& params, SharedText attachment);
    void stat(std::int64_t id, const Json& params, SharedText attachment);
    void makeFolder(std::int64_t id, const Json& params, SharedText attachment);
    void meters(std::int64_t id, const Json& params, SharedText attachment);
    void port(std::int64_t id, const Json& params, SharedText attachment);
    void ports(std::int64_t id, const Json& params, SharedText attachment);
    void closePort(std::int64_t id, const Json& params, SharedText attachment);
    // boxconnection_worker.cpp
    void worker(std::int64_t id, const Json& params, SharedText attachment);
    void signalWorker(std::int64_t id, const Json& params, SharedText attachment);
    void workerStarted(std::int64_t id, const std::shared_ptr<SandboxCommand>& worker);
    void workerChanged();
    void endWorker();

    void answer(std::int64_t id, const Json& result, const SharedText& text = {});
    void refuse(std::int64_t id, const Error& error);
    void notify(std::string_view method, const Json& params, const SharedText& text = {});
    void setBusy(bool busy);
    BoxCommandPtr findCommand(std::int64_t id, const Json& params); // refuses when there is none
    void pump(Following& following);
    void pumpAll();

    // Asks in another thread, answers here. What is answered is made of the outcome by `then`. What still
    // waits for a thread when the connection has gone is not done.
    template <typename Work, typename Then>
    void ask(Background& threads, std::int64_t id, Work work, Then then)
    {
        if (m_asking >= mostAsked)
            return refuse(id, {"sandbox.busy", "too many requests of this connection are under way"});
        ++m_asking;
        const std::weak_ptr<BoxConnection> weak = weak_from_this();
        using Outcome = std::invoke_result_t<Work>;
        inBackground(
            threads,
            [weak, work = std::move(work)]() mutable -> Outcome {
                if (weak.expired())
                    return fail("sandbox.nobody", "nobody waits for the answer");
                return work();
            },
            [weak, id, then = std::move(then)](Outcome outcome) mutable {
                const auto self = weak.lock();
                if (!self)
                    return;
                --self->m_asking;
                if (!outcome)
                    return self->refuse(id, outcome.error());
                then(*self, outcome);
            });
    }
    // Passes init's own answer on.
    void askInit(std::int64_t id, std::function<Result<Json>()> question);

    struct Worker;

    BoxServer& m_server;
    Box& m_box;
    std::shared_ptr<FrameSocket> m_socket;
    RequestGatherer m_requests;
    std::map<std::string, Following> m_following;
    std::shared_ptr<Worker> m_worker;
    bool m_busy = false;
    static constexpr int mostAsked = 128;
    int m_asking = 0;
};

} // namespace gb::rpc
