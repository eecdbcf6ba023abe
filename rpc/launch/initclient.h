// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include <backend/base/json.h>
#include <rpc/protocol/frame.h>

#include "outputspool.h"

namespace gb {

struct ExecSpec
{
    std::vector<std::string> argv;
    std::map<std::string, std::string> env; // the whole environment of the command
    std::string folder = "/";
    std::int64_t timeoutMs = 0; // 0: none
    bool input = false; // else standard input is /dev/null
    bool terminal = false;
    int rows = 24;
    int columns = 80;
    bool socket = false; // descriptor 3 of the command is the other end of takeSocket()
    std::size_t outputLimit = 16U << 20U; // per stream
    bool outputInRecord = true; // else the output is in the spool only
    // Called from the client's own thread: as output comes in, when there is room for input again, and once
    // when the command has ended or is lost.
    std::function<void(std::string_view stream, std::string_view bytes)> onOutput;
    std::function<void()> onInputRoom;
    std::function<void()> onEnd;
};

struct ExecRecord
{
    int code = -1; // 128 + signal when it was killed
    int signal = 0;
    bool timedOut = false;
    std::int64_t mostMemory = 0; // bytes it held at a time
    std::string output;
    std::string errors;
    std::size_t dropped = 0; // bytes beyond the limit
};

struct FilePart
{
    std::int64_t size = 0; // of the whole file
    std::string bytes;
};

// A listening socket on the sandbox's own 127.0.0.1, at a port nobody had.
struct ListeningInside
{
    UniqueFd socket;
    int port = 0;
};

class InitClient;

// A command in the sandbox. It goes on when nobody holds this; its output stays in the spool under id().
class SandboxCommand
{
public:
    const std::string& id() const { return m_id; }
    std::int64_t pid() const { return m_pid; }
    UniqueFd takeSocket() { return std::move(m_socket); }

    Status write(std::string_view bytes); // waits for room
    Result<std::size_t> writeSome(std::string_view bytes); // what there is room for, perhaps nothing
    Status closeInput();
    Status signal(int number); // to everything in the command's session
    Status resize(int rows, int columns);
    // Waits until it has ended, at most so long (negative: for ever); nothing when it still runs.
    std::optional<Result<ExecRecord>> wait(std::int64_t timeoutMs = -1);
    const OutputSpool& spool(std::string_view stream) const
    {
        return stream == "stderr" ? m_errors : m_output;
    }

private:
    friend class InitClient;
    SandboxCommand(std::shared_ptr<InitClient> client, std::int64_t channel, const ExecSpec& spec,
        const fs::path& spoolFolder);
    void onFrame(const Json& message, const std::string& attachment, UniqueFd& fd);
    void onLost();
    bool takeOutcome(const Json& message, const std::string& kind);

    std::weak_ptr<InitClient> m_client;
    std::int64_t m_channel;
    std::string m_id;
    std::function<void(std::string_view, std::string_view)> m_onOutput;
    std::function<void()> m_onInputRoom;
    std::function<void()> m_onEnd;
    bool m_outputInRecord;
    OutputSpool m_output;
    OutputSpool m_errors;
    UniqueFd m_socket;
    std::int64_t m_pid = -1;

    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_started = false;
    std::int64_t m_inputCredit = 0;
    std::optional<Result<ExecRecord>> m_outcome;
};

// Our end of the channel protocol of glovebox-init (rpc/init/README.md). One thread reads; every method may
// be called from any thread. What comes from inside is not trusted: sizes are bounded, descriptors are
// accepted only where one was asked for.
class InitClient : public std::enable_shared_from_this<InitClient>
{
public:
    // Says hello and waits for the answer. An empty folder keeps output in memory.
    static Result<std::shared_ptr<InitClient>> create(
        UniqueFd socket, fs::path spoolFolder = {}, std::int64_t helloTimeoutMs = 10000);
    ~InitClient();
    InitClient(const InitClient&) = delete;
    InitClient& operator=(const InitClient&) = delete;

    bool alive() const { return m_alive; }
    Result<std::shared_ptr<SandboxCommand>> start(const ExecSpec& spec);
    Result<ExecRecord> run(const ExecSpec& spec);

    Status putFile(const fs::path& local, const std::string& inside, unsigned mode = 0644);
    Status putBytes(std::string_view bytes, const std::string& inside, unsigned mode = 0644);
    Status getFile(const std::string& inside, const fs::path& local);
    Result<std::string> getBytes(const std::string& inside, std::size_t limit);
    Result<FilePart> getPart(const std::string& inside, std::int64_t from, std::size_t limit);
    Result<Json> list(const std::string& folder, const std::string& after = {});
    Result<Json> stat(const std::string& path);
    Status makeFolder(const std::string& path, unsigned mode = 0755);
    Result<Json> meters();
    Result<UniqueFd> connectPort(int port);
    Result<UniqueFd> connectSocket(const std::string& path);
    Result<ListeningInside> listenPort();
    void shutdown();

private:
    friend class SandboxCommand;
    struct Received
    {
        Json message;
        std::string attachment;
        UniqueFd fd;
    };
    // One question and its answers, for everything that is not a command.
    struct Channel
    {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<Received> inbox;
        bool lost = false;
    };
    class Exchange;

    InitClient(UniqueFd socket, fs::path spoolFolder);
    Status send(const Json& message, std::string_view attachment = {}, int descriptor = -1);
    void readLoop();
    bool readOnce(rpc::FrameReader& reader);
    Status deliver(const rpc::Frame& frame);
    void lose();
    Result<Received> ask(Json message);
    using ReadPiece = std::function<Result<std::string>()>;
    using WritePiece = std::function<Status(std::string_view)>;
    Status copyOpenFile(int file, const std::string& inside, unsigned mode);
    Status upload(const std::string& inside, unsigned mode, const ReadPiece& next);
    Status download(const std::string& inside, const WritePiece& take);

    UniqueFd m_socket;
    fs::path m_spoolFolder;
    std::thread m_thread;
    std::atomic<bool> m_alive = true;
    std::atomic<std::int64_t> m_nextChannel = 1;
    std::mutex m_sendMutex;
    std::mutex m_mutex;
    std::map<std::int64_t, std::shared_ptr<SandboxCommand>> m_commands;
    std::map<std::int64_t, std::shared_ptr<Channel>> m_channels;
    std::deque<UniqueFd> m_arrivedFds; // only the reading thread's
};

} // namespace gb
