// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QObject>

#include <backend/api/client.h>

namespace gb::ui {

// Carries one file of this machine into a sandbox or back, a piece at a time, reading and writing on another
// thread. It calls back once and is owned by its parent; cancel() by deleting it.
class FileTransfer final : public QObject
{
    Q_OBJECT

public:
    using Done = std::function<void(Status)>;

    FileTransfer(api::Client& client, std::string sandbox, QObject* parent);

    void upload(const QString& local, const std::string& inside, Done done);
    void download(const std::string& inside, const QString& local, Done done);

Q_SIGNALS:
    void progressed(qint64 done, qint64 total);

private:
    void sendPiece();
    void readPiece();
    void finish(Status status);

    api::Client& m_client;
    std::string m_sandbox;
    QString m_local;
    std::string m_inside;
    std::string m_transfer;
    std::int64_t m_offset = 0;
    std::int64_t m_total = 0;
    unsigned m_mode = 0644;
    Done m_done;
};

} // namespace gb::ui
