// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QTimer>

#include <backend/api/client.h>

namespace gb::ui {

// Reads the log of how a sandbox was started, from its beginning and then what comes, one request at a time.
class LogFollower final : public QObject
{
    Q_OBJECT

public:
    explicit LogFollower(api::Client& client, QObject* parent = nullptr);

    void follow(const std::string& sandbox); // empty: stop; a new one begins at its beginning
    void setActive(bool active); // asks again and again while something may still come
    void readOn(); // once more, now
    QString lastLines(int count) const;

Q_SIGNALS:
    void began();
    void arrived(const QByteArray& bytes);

private:
    api::Client& m_client;
    std::string m_sandbox;
    std::int64_t m_offset = 0;
    QByteArray m_tail;
    QTimer m_next;
    bool m_active = false;
    bool m_asking = false;
};

} // namespace gb::ui
