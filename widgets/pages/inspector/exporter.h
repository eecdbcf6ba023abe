// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <memory>

#include <QSaveFile>

#include <backend/api/client.h>

namespace gb::ui {

// Writes the records of all calls a filter finds, one JSON object a line, newest first. The file appears
// when it is whole.
class CallExporter final : public QObject
{
    Q_OBJECT

public:
    CallExporter(api::Client& client, QString filter, const QString& path, QObject* parent = nullptr);
    void start();

Q_SIGNALS:
    void finished(int calls, const QString& problem);

private:
    void askPage();
    void askRecord();
    void write(const api::Answer& answer);
    void end(const QString& problem);

    api::Client& m_client;
    std::string m_filter;
    std::string m_next;
    std::deque<std::string> m_waiting;
    QSaveFile m_file;
    int m_calls = 0;
    bool m_last = false;
};

} // namespace gb::ui
