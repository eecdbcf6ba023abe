// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>
#include <QHash>

#include <backend/api/client.h>

class QLabel;
class QToolButton;
class QVBoxLayout;

namespace gb::ui {

class ProgressRow;

// One line at the bottom: the job that runs and the connection. It opens upward to all jobs and downloads.
class Tray final : public QFrame
{
    Q_OBJECT

public:
    explicit Tray(api::Client& client, QWidget* parent = nullptr);
    void setOpen(bool open);

Q_SIGNALS:
    void failed(const QString& what, const gb::Error& error);

private:
    void createLine();
    void showJobs();
    void showConnection();
    void cancel(const QString& job);
    void placeRows(const std::vector<Json>& jobs);

    api::Client& m_client;
    QToolButton* m_toggle = nullptr;
    ProgressRow* m_first = nullptr;
    QLabel* m_idle = nullptr;
    QLabel* m_connectionMark = nullptr;
    QLabel* m_connection = nullptr;
    QWidget* m_list = nullptr;
    QVBoxLayout* m_rows = nullptr;
    QHash<QString, ProgressRow*> m_byJob;
    QString m_firstJob;
};

} // namespace gb::ui
