// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QList>
#include <QString>

#include <backend/api/client.h>
#include <widgets/controls/progressrow.h>

namespace gb::ui {

// What the state topics say, in the form the window shows it.
struct AliveItem
{
    enum class Kind { Sandbox, Interface, Run, Job };

    Kind kind;
    QString id;
    QString title;
    QString state;
    std::int64_t since = 0;
    double cost = 0; // dollars so far
    double costPerHour = 0;
    bool stoppable = false;
};

QList<AliveItem> aliveItems(const api::Client& client);
ProgressSpec progressOf(const Json& job);
// Jobs that are queued or running, the oldest first.
std::vector<Json> runningJobs(const api::Client& client);
// Downloads on their way, in the form of jobs.
std::vector<Json> runningDownloads(const api::Client& client);

// Stops what the item stands for, if it is stoppable; the handler gets the error if that fails.
void stopItem(api::Client& client, QObject* guard, const AliveItem& item, std::function<void(Status)> done);

// Calls the handler once with what jobs.get says when the job has ended, now or later.
void whenJobEnds(
    api::Client& client, QObject* guard, const std::string& job, std::function<void(Result<Json>)> handler);

} // namespace gb::ui
