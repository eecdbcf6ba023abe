// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>

#include <backend/base/ids.h>

#include "initclient.h"

namespace gb {
namespace {

constexpr std::size_t inputPiece = 1U << 16U;

Error lostError()
{
    return Error{"sandbox.gone", "the sandbox has ended"};
}

fs::path spoolPath(const fs::path& folder, const std::string& id, const char* stream)
{
    return folder.empty() ? fs::path() : folder / (id + "." + stream);
}

} // namespace

SandboxCommand::SandboxCommand(std::shared_ptr<InitClient> client, std::int64_t channel, const ExecSpec& spec,
    const fs::path& spoolFolder)
    : m_client(client), m_channel(channel), m_id(newId()), m_onOutput(spec.onOutput),
      m_onInputRoom(spec.onInputRoom), m_onEnd(spec.onEnd), m_outputInRecord(spec.outputInRecord),
      m_output(spoolPath(spoolFolder, m_id, "stdout"), spec.outputLimit),
      m_errors(spoolPath(spoolFolder, m_id, "stderr"), spec.outputLimit)
{ }

void SandboxCommand::onFrame(const Json& message, const std::string& attachment, UniqueFd& fd)
{
    const std::string kind = stringOr(message, "t");
    if (kind == "out") {
        const std::string stream = stringOr(message, "stream");
        (stream == "stderr" ? m_errors : m_output).append(attachment);
        if (m_onOutput)
            m_onOutput(stream, attachment);
        if (const auto client = m_client.lock())
            (void)client->send(Json{{"t", "credit"}, {"ch", m_channel}, {"bytes", attachment.size()}});
        return;
    }
    bool ended = false;
    {
        const std::lock_guard lock(m_mutex);
        if (kind == "started") {
            m_started = true;
            m_pid = integerOr(message, "pid");
            m_inputCredit = integerOr(message, "stdin");
            m_socket = std::move(fd);
        } else if (kind == "stdin.credit") {
            m_inputCredit += integerOr(message, "bytes");
        } else {
            ended = takeOutcome(message, kind);
        }
        m_changed.notify_all();
    }
    if (ended && m_onEnd)
        m_onEnd();
    else if (kind == "stdin.credit" && m_onInputRoom)
        m_onInputRoom();
}

bool SandboxCommand::takeOutcome(const Json& message, const std::string& kind)
{
    if (kind == "exit") {
        ExecRecord record;
        record.code = static_cast<int>(integerOr(message, "code", -1));
        record.signal = static_cast<int>(integerOr(message, "signal"));
        record.timedOut = boolOr(message, "timed_out");
        record.mostMemory = integerOr(message, "most_memory");
        if (m_outputInRecord) {
            record.output = m_output.read(0, m_output.size());
            record.errors = m_errors.read(0, m_errors.size());
        }
        record.dropped = m_output.dropped() + m_errors.dropped();
        m_outcome = std::move(record);
    } else if (kind == "error") {
        m_outcome = fail(Error::fromJson(objectOr(message, "error")));
    } else {
        return false;
    }
    return true;
}

void SandboxCommand::onLost()
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_outcome)
            return;
        m_outcome = fail(lostError());
        m_changed.notify_all();
    }
    if (m_onEnd)
        m_onEnd();
}

Result<std::size_t> SandboxCommand::writeSome(std::string_view bytes)
{
    std::size_t room = 0;
    {
        const std::lock_guard lock(m_mutex);
        if (m_outcome)
            return fail("sandbox.command_ended", "the command has ended and reads no more input");
        room = std::min({bytes.size(), inputPiece, static_cast<std::size_t>(m_inputCredit)});
        m_inputCredit -= static_cast<std::int64_t>(room);
    }
    const auto client = m_client.lock();
    if (!client)
        return fail(lostError());
    if (room > 0)
        GB_TRY(client->send(Json{{"t", "stdin"}, {"ch", m_channel}}, bytes.substr(0, room)));
    return room;
}

Status SandboxCommand::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        std::size_t room = 0;
        {
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, [&] { return m_inputCredit > 0 || m_outcome; });
            if (m_outcome)
                return fail("sandbox.command_ended", "the command has ended and reads no more input");
            room = std::min({bytes.size(), inputPiece, static_cast<std::size_t>(m_inputCredit)});
            m_inputCredit -= static_cast<std::int64_t>(room);
        }
        const auto client = m_client.lock();
        if (!client)
            return fail(lostError());
        GB_TRY(client->send(Json{{"t", "stdin"}, {"ch", m_channel}}, bytes.substr(0, room)));
        bytes.remove_prefix(room);
    }
    return {};
}

Status SandboxCommand::closeInput()
{
    const auto client = m_client.lock();
    return client ? client->send(Json{{"t", "stdin.close"}, {"ch", m_channel}}) : Status(fail(lostError()));
}

Status SandboxCommand::signal(int number)
{
    const auto client = m_client.lock();
    return client ? client->send(Json{{"t", "signal"}, {"ch", m_channel}, {"signal", number}})
                  : Status(fail(lostError()));
}

Status SandboxCommand::resize(int rows, int columns)
{
    const auto client = m_client.lock();
    return client ? client->send(Json{{"t", "resize"}, {"ch", m_channel}, {"rows", rows}, {"cols", columns}})
                  : Status(fail(lostError()));
}

std::optional<Result<ExecRecord>> SandboxCommand::wait(std::int64_t timeoutMs)
{
    std::unique_lock lock(m_mutex);
    if (timeoutMs < 0)
        m_changed.wait(lock, [&] { return m_outcome.has_value(); });
    else
        m_changed.wait_for(lock, std::chrono::milliseconds(timeoutMs), [&] { return m_outcome.has_value(); });
    return m_outcome;
}

} // namespace gb
