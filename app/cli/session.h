// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>

#include <QObject>

#include <backend/api/client.h>

namespace gb::cli {

// The command line's connection: one blocking call after another, while Ctrl+C ends the wait with
// "interrupted".
class Session
{
public:
    explicit Session(bool startDaemon = true);

    api::Client& client() { return m_client; }
    Status connect(); // what every call() does first
    // Why the daemon is not there any more: whoever waits for what it tells would wait for ever.
    const std::optional<Error>& lost() const { return m_lost; }
    Result<api::Client::Answer> call(
        const std::string& method, Json params = Json::object(), std::string attachment = {});
    // For what goes on without the daemon: when it goes away, the next one is asked under the same `op`,
    // which makes it the same request. `lost` is told each time.
    Result<api::Client::Answer> callThrough(
        const std::string& method, Json params, const std::function<void()>& lost);
    // Waits until `done` says so (asked after every event), or until interrupted.
    Status waitUntil(const std::function<bool()>& done);
    Status pause(int milliseconds);
    // The result of a job that has ended well, else its error. `changed` gets the job's item as it goes.
    Result<Json> waitForJob(
        const std::string& job, const std::function<void(const Json& item)>& changed = {});

private:
    bool m_connected = false;
    std::optional<Error> m_lost; // before the client, which tells of its end as it goes
    QObject m_guard;
    api::Client m_client;
};

// From the first call on SIGINT and SIGTERM only set this.
void catchInterrupts();
bool wasInterrupted();
void forgetInterrupt(); // for a second chance: waiting works again
void onInterrupt(QObject* guard, std::function<void()> action);

} // namespace gb::cli
