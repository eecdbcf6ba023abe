// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include <QObject>
#include <QSocketNotifier>

#include <backend/base/fd.h>
#include <backend/base/files.h>

namespace gb::service {

// The lock that decides who is the daemon of a data folder.
class DataFolderLock
{
public:
    // Waits while the holder is on its way out (it does not answer any more) and gives up as soon as one
    // answers.
    static Result<DataFolderLock> take(const fs::path& dataFolder);
    bool isHeld() const { return m_fd.valid(); }

private:
    UniqueFd m_fd;
};

// SIGTERM and SIGINT as a signal of Qt's. SIGPIPE and SIGHUP are ignored from then on.
class SignalWatch : public QObject
{
    Q_OBJECT

public:
    SignalWatch();
    ~SignalWatch() override;

Q_SIGNALS:
    void asked();

private:
    UniqueFd m_fd;
    std::unique_ptr<QSocketNotifier> m_notifier;
};

// The daemon must not depend on who started it: only what it needs of the environment stays.
void cleanEnvironment();

// From now on our log and whatever libraries print go to this file.
Status logHere(const fs::path& file);

} // namespace gb::service
