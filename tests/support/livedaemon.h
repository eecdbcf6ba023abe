// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <csignal>
#include <memory>

#include <QFile>
#include <QTest>

#include <backend/api/client.h>

namespace gb::test {

constexpr int daemonTimeoutMs = 60'000;

// The connection a window has, to a real daemon that the programs of this build start in that folder.
inline std::unique_ptr<api::Client> liveClient(const QString& dataFolder)
{
    qputenv("GLOVEBOX_HOME", dataFolder.toLocal8Bit());
    if (!qEnvironmentVariableIsSet("GLOVEBOX_BIN"))
        qputenv("GLOVEBOX_BIN", GB_BIN_DIR);
    QFile::setPermissions(dataFolder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return std::make_unique<api::Client>(
        api::Client::Options{fs::path(dataFolder.toStdString()), "window", true, true, {}});
}

// Ends the daemon and the connection; false when it did not answer.
inline bool endLive(std::unique_ptr<api::Client>& client)
{
    if (!client)
        return false;
    const auto daemon = static_cast<pid_t>(integerOr(client->daemonInfo(), "pid", 1));
    bool stopped = false;
    client->call(client.get(), "daemon.stop", {{"force", true}}, [&stopped](const auto&) { stopped = true; });
    const bool answered = QTest::qWaitFor([&stopped] { return stopped; }, daemonTimeoutMs);
    // It writes into the folder until it is gone, and a client would start another.
    client->close();
    const bool gone =
        QTest::qWaitFor([daemon] { return daemon <= 1 || ::kill(daemon, 0) != 0; }, daemonTimeoutMs);
    client.reset();
    return answered && gone;
}

} // namespace gb::test
