// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "initclient.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <rpc/protocol/descriptors.h>

namespace gb {
namespace {

constexpr int initProtocol = 1;
constexpr std::int64_t outputCredit = 1U << 20U;

bool writeAll(int fd, std::string_view bytes, int descriptor)
{
    while (!bytes.empty()) {
        iovec part{const_cast<char*>(bytes.data()), bytes.size()};
        const ssize_t sent = rpc::sendBeside(fd, {&part, 1}, descriptor, 0);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
        descriptor = -1;
    }
    return true;
}

} // namespace

Result<std::shared_ptr<InitClient>> InitClient::create(
    UniqueFd socket, fs::path spoolFolder, std::int64_t helloTimeoutMs)
{
    std::shared_ptr<InitClient> client(new InitClient(std::move(socket), std::move(spoolFolder)));
    GB_TRY(client->send(Json{{"t", "hello"}, {"protocol", initProtocol}}));
    pollfd waiting{client->m_socket.get(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(helloTimeoutMs)) != 1)
        return fail("sandbox.init_silent", "process 1 of the sandbox does not answer");
    rpc::FrameReader reader;
    for (;;) {
        auto frame = reader.next();
        if (!frame)
            return fail(frame.error());
        if (*frame) {
            const auto hello = parseJson((*frame)->json);
            if (!hello || stringOr(*hello, "t") != "hello" || integerOr(*hello, "protocol") != initProtocol)
                return fail("sandbox.init_protocol", "process 1 of the sandbox speaks another protocol");
            break;
        }
        if (!client->readOnce(reader))
            return fail("sandbox.gone", "the sandbox ended while starting");
    }
    client->m_thread = std::thread([raw = client.get()] { raw->readLoop(); });
    return client;
}

InitClient::InitClient(UniqueFd socket, fs::path spoolFolder)
    : m_socket(std::move(socket)), m_spoolFolder(std::move(spoolFolder))
{ }

InitClient::~InitClient()
{
    ::shutdown(m_socket.get(), SHUT_RDWR);
    if (!m_thread.joinable())
        return;
    // The last reference may go away in a callback of our own thread.
    if (m_thread.get_id() == std::this_thread::get_id())
        m_thread.detach();
    else
        m_thread.join();
}

Status InitClient::send(const Json& message, std::string_view attachment, int descriptor)
{
    const std::string frame =
        rpc::encodeFrame(message.dump(-1, ' ', false, Json::error_handler_t::replace), attachment);
    const std::lock_guard lock(m_sendMutex);
    if (!m_alive || !writeAll(m_socket.get(), frame, descriptor))
        return fail("sandbox.gone", "the sandbox has ended");
    return {};
}

bool InitClient::readOnce(rpc::FrameReader& reader)
{
    static thread_local std::array<char, 1U << 17U> buffer;
    constexpr std::size_t mostFds = 4;
    ssize_t got = 0;
    do
        got = rpc::receiveBeside(m_socket.get(), buffer, m_arrivedFds, mostFds, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    reader.feed({buffer.data(), static_cast<std::size_t>(got)});
    return true;
}

void InitClient::readLoop()
{
    rpc::FrameReader reader;
    for (bool broken = false; !broken && readOnce(reader);) {
        for (;;) {
            auto frame = reader.next();
            if (!frame || !*frame) {
                broken = !frame;
                break;
            }
            if (!deliver(**frame)) {
                broken = true;
                break;
            }
        }
        if (reader.buffered() == 0)
            m_arrivedFds.clear(); // nobody announced them
    }
    lose();
}

Status InitClient::deliver(const rpc::Frame& frame)
{
    auto message = parseJson(frame.json);
    if (!message)
        return fail(message.error());
    const std::int64_t number = integerOr(*message, "ch");
    std::shared_ptr<SandboxCommand> command;
    std::shared_ptr<Channel> channel;
    {
        const std::lock_guard lock(m_mutex);
        if (const auto found = m_commands.find(number); found != m_commands.end())
            command = found->second;
        if (const auto found = m_channels.find(number); found != m_channels.end())
            channel = found->second;
    }
    UniqueFd fd;
    if (boolOr(*message, "fd") && !m_arrivedFds.empty()) {
        fd = std::move(m_arrivedFds.front());
        m_arrivedFds.pop_front();
        if (!rpc::isStreamSocket(fd.get()))
            fd.reset();
    }
    const std::string kind = stringOr(*message, "t");
    if (command) {
        command->onFrame(*message, frame.attachment, fd);
        if (kind == "exit" || kind == "error") {
            const std::lock_guard lock(m_mutex);
            m_commands.erase(number);
        }
    } else if (channel) {
        const std::lock_guard lock(channel->mutex);
        channel->inbox.push_back({std::move(*message), frame.attachment, std::move(fd)});
        channel->changed.notify_all();
    }
    return {};
}

void InitClient::lose()
{
    m_alive = false;
    std::map<std::int64_t, std::shared_ptr<SandboxCommand>> commands;
    std::map<std::int64_t, std::shared_ptr<Channel>> channels;
    {
        const std::lock_guard lock(m_mutex);
        commands.swap(m_commands);
        channels.swap(m_channels);
    }
    for (const auto& [number, command] : commands)
        command->onLost();
    for (const auto& [number, channel] : channels) {
        const std::lock_guard lock(channel->mutex);
        channel->lost = true;
        channel->changed.notify_all();
    }
}

Result<std::shared_ptr<SandboxCommand>> InitClient::start(const ExecSpec& spec)
{
    const std::int64_t number = m_nextChannel++;
    std::shared_ptr<SandboxCommand> command(
        new SandboxCommand(shared_from_this(), number, spec, m_spoolFolder));
    {
        const std::lock_guard lock(m_mutex);
        m_commands[number] = command;
    }
    Json request{{"t", "exec"}, {"ch", number}, {"argv", spec.argv}, {"env", Json::object()},
        {"cwd", spec.folder}, {"stdin", spec.input}, {"socket", spec.socket}, {"timeout_ms", spec.timeoutMs},
        {"credit", outputCredit}};
    for (const auto& [name, value] : spec.env)
        request["env"][name] = value;
    if (spec.terminal)
        request["pty"] = Json{{"rows", spec.rows}, {"cols", spec.columns}};
    if (auto sent = send(request); !sent) {
        const std::lock_guard lock(m_mutex);
        m_commands.erase(number);
        return fail(sent.error());
    }
    std::unique_lock lock(command->m_mutex);
    command->m_changed.wait(lock, [&] { return command->m_started || command->m_outcome; });
    if (!command->m_started && !*command->m_outcome)
        return fail(command->m_outcome->error());
    return command;
}

Result<ExecRecord> InitClient::run(const ExecSpec& spec)
{
    auto command = start(spec);
    if (!command)
        return fail(command.error());
    return *(*command)->wait();
}

void InitClient::shutdown()
{
    (void)send(Json{{"t", "shutdown"}});
}

} // namespace gb
