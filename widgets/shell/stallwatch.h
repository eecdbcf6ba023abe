// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include <QObject>

namespace gb::ui {

// Notices when the thread it is made on has not been back in its event loop for over 50 ms, and tells where
// it is: a second thread asks by a signal and the handler takes the stack. For development builds.
class StallWatch final : public QObject
{
public:
    // Called on the second thread: how long so far, and the stack, innermost first.
    using Report = std::function<void(std::int64_t ms, const std::string& stack)>;

    explicit StallWatch(Report report, QObject* parent = nullptr);
    ~StallWatch() override;

private:
    void watch();

    Report m_report;
    pthread_t m_watched;
    std::atomic<std::int64_t> m_busySince = 0; // steady nanoseconds; 0: waiting for events
    std::atomic<bool> m_leave = false;
    std::thread m_thread;
};

// Logs stalls of this thread for as long as the owner lives; nothing in a release build.
void logStalls(QObject* owner);

} // namespace gb::ui
