// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>

#include "call.h"
#include "framesocket.h"
#include "hostconfig.h"
#include "worker_process.h"

namespace gb::rpc {

// What a worker says about a call's end, with the descriptors that came along.
struct WorkerResult
{
    std::int64_t id = 0;
    bool ok = false;
    bool special = false;
    Json error;
    Json warnings = Json::array();
    Json tensors = Json::array();
    std::int64_t computeNs = 0;
    std::int64_t serialiseNs = 0;
    SharedText text;
    std::vector<UniqueFd> descriptors;
};

// One worker: its process and its link. The keeper makes a new one for each generation.
class Worker
{
public:
    struct Handlers
    {
        std::function<void(const Json& header, SharedText schema)> loaded;
        std::function<void(const Json& header)> loadFailed;
        std::function<void(WorkerResult& result)> result;
        // started, output, log, progress, item: whatever belongs to a running call (or to none, id null)
        std::function<void(const Json& header, SharedText attachment, std::vector<UniqueFd> fds)> event;
        std::function<void(const Json& header, SharedText bytes, std::vector<UniqueFd> fds)> tensorData;
        std::function<void(const char* stream, std::string_view text)> printed;
        std::function<void(const WorkerExit&)> exited; // once; the handler destroys the worker
    };

    static Result<std::unique_ptr<Worker>> start(
        Loop& loop, const HostConfig& config, int generation, Handlers handlers);
    ~Worker();

    int generation() const { return m_generation; }
    int pid() const { return m_home->pid(); }
    const Json& hello() const { return m_hello; }

    void call(std::int64_t id, const CallRequest& request);
    void cancel(std::int64_t id);
    void reload();
    void readTensor(std::int64_t id, std::string_view handle, const Json& what);
    void release(std::string_view handle);
    void shutdown();
    void kill();

private:
    Worker(Handlers handlers, int generation) : m_handlers(std::move(handlers)), m_generation(generation) { }

    Status startBeside(Loop& loop, const HostConfig& config, WorkerHome::Handlers handlers);
    Status startInSandbox(Loop& loop, const HostConfig& config, WorkerHome::Handlers handlers);
    void open(Loop& loop, const HostConfig& config, UniqueFd link, const Json& secrets);
    void send(std::string json, const SharedText& attachment = {});
    void refuseToLoad(const char* how, const Error& error);
    void answered();
    void frame(std::string& json, SharedText attachment);
    void dispatch(const std::string& kind, const Json& header, SharedText attachment);
    void takeResult(const Json& header, SharedText attachment);
    bool takePlainResult(std::string_view json, SharedText& attachment);

    SharedText concealed(SharedText text) const;

    Handlers m_handlers;
    int m_generation;
    Concealer m_concealer;
    Json m_hello = Json::object();
    std::unique_ptr<WorkerHome> m_home;
    int m_running = 0; // calls it has not answered
    std::shared_ptr<FrameSocket> m_link;
};

} // namespace gb::rpc
