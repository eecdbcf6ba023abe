// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "livestate.h"

#include <algorithm>

#include "fields.h"

namespace gb::ui {
namespace {

bool jobRuns(const Json& job)
{
    const auto state = stringOr(job, "state");
    return state == "running" || state == "queued";
}

void addCost(AliveItem& item, const Json& json)
{
    const auto cost = objectOr(json, "cost");
    item.cost = numberOr(cost, "total");
    item.costPerHour = numberOr(cost, "per_hour");
}

template <typename Visit>
void visitItems(const api::Client& client, const std::string& topic, Visit visit)
{
    const auto& items = client.items(topic);
    if (!items.is_object())
        return;
    for (const auto& item : items)
        if (item.is_object())
            visit(item);
}

// Lives until the job has ended or its guard is gone.
class JobWatch final : public QObject
{
public:
    JobWatch(api::Client& client, QObject* guard, std::string job, std::function<void(Result<Json>)> handler)
        : QObject(guard), m_client(client), m_job(std::move(job)), m_handler(std::move(handler))
    {
        client.watch({"jobs"});
        connect(&client, &api::Client::stateChanged, this, [this](const QString& topic) {
            if (topic == QLatin1String("jobs"))
                look();
        });
        ask();
    }

private:
    void look()
    {
        const auto& jobs = m_client.items("jobs");
        const auto job = jobs.is_object() ? jobs.find(m_job) : jobs.end();
        if (job != jobs.end() && !jobRuns(*job))
            ask();
    }
    void ask()
    {
        if (m_asking)
            return;
        m_asking = true;
        m_client.call(this, "jobs.get", {{"job", m_job}}, [this](Result<api::Answer> answer) {
            m_asking = false;
            if (answer && jobRuns(answer->body))
                return;
            deleteLater();
            if (const auto handler = std::exchange(m_handler, {}))
                answer ? handler(answer->body) : handler(fail(answer.error()));
        });
    }

    api::Client& m_client;
    std::string m_job;
    std::function<void(Result<Json>)> m_handler;
    bool m_asking = false;
};

} // namespace

QList<AliveItem> aliveItems(const api::Client& client)
{
    QList<AliveItem> alive;
    visitItems(client, "sandboxes", [&alive](const Json& json) {
        AliveItem item{AliveItem::Kind::Sandbox, textField(json, "id"), textField(json, "name"),
            textField(json, "state"), timeField(json, "since")};
        static const QStringList over = {
            QStringLiteral("stopped"), QStringLiteral("failed"), QStringLiteral("gone")};
        if (over.contains(item.state))
            return;
        item.stoppable = item.state != QLatin1String("stopping");
        addCost(item, json);
        alive += item;
    });
    visitItems(client, "interfaces", [&alive](const Json& json) {
        AliveItem item{AliveItem::Kind::Interface, textField(json, "id"), textField(json, "name"),
            textField(json, "state"), timeField(json, "started_at")};
        item.stoppable = true;
        // One inside a sandbox lives and dies with it.
        if (item.state != QLatin1String("gone") && textField(json, "sandbox").isEmpty())
            alive += item;
    });
    visitItems(client, "runs", [&alive](const Json& json) {
        if (stringOr(json, "state") == "live" && stringOr(json, "kind") == "agent")
            alive += {AliveItem::Kind::Run, textField(json, "id"), textField(json, "title"),
                QStringLiteral("live"), timeField(json, "started_at")};
    });
    for (const auto& json : runningJobs(client)) {
        // Its sandbox is listed already, in the state the job brings about.
        if (stringOr(json, "kind").starts_with("sandboxes."))
            continue;
        AliveItem item{AliveItem::Kind::Job, textField(json, "id"), textField(json, "title"),
            textField(json, "state"), timeField(json, "started_at")};
        item.stoppable = boolOr(json, "cancellable");
        alive += item;
    }
    return alive;
}

ProgressSpec progressOf(const Json& job)
{
    ProgressSpec spec;
    spec.title = textField(job, "title");
    spec.message = textField(job, "message");
    spec.state = textField(job, "state");
    const auto progress = objectOr(job, "progress");
    spec.unit = textField(progress, "unit");
    spec.done = numberOr(progress, "done");
    spec.total = numberOr(progress, "total");
    spec.rate = numberOr(progress, "rate");
    spec.remainingSeconds = numberOr(progress, "remaining_s", -1);
    spec.cancellable = boolOr(job, "cancellable");
    return spec;
}

std::vector<Json> runningJobs(const api::Client& client)
{
    std::vector<Json> jobs;
    visitItems(client, "jobs", [&jobs](const Json& job) {
        if (jobRuns(job))
            jobs.push_back(job);
    });
    std::ranges::stable_sort(jobs, {}, [](const Json& job) { return timeField(job, "started_at"); });
    return jobs;
}

std::vector<Json> runningDownloads(const api::Client& client)
{
    std::vector<Json> downloads;
    visitItems(client, "models", [&downloads](const Json& download) {
        static const QStringList moving = {QStringLiteral("queued"), QStringLiteral("resolving"),
            QStringLiteral("downloading"), QStringLiteral("verifying"), QStringLiteral("stalled")};
        if (!moving.contains(textField(download, "state")))
            return;
        Json progress{{"unit", "bytes"}};
        for (const char* member : {"done", "total", "rate", "remaining_s"})
            if (const auto found = download.find(member); found != download.end())
                progress[member] = *found;
        downloads.push_back(Json{{"id", stringOr(download, "id")}, {"kind", "download"},
            {"title", stringOr(download, "repo")}, {"state", "running"}, {"cancellable", true},
            {"progress", std::move(progress)}});
    });
    return downloads;
}

void stopItem(api::Client& client, QObject* guard, const AliveItem& item, std::function<void(Status)> done)
{
    const auto id = item.id.toStdString();
    const auto answer = [done = std::move(done)](Result<api::Answer> result) {
        done(result ? Status() : Status(tl::unexpected(result.error())));
    };
    if (item.kind == AliveItem::Kind::Interface)
        client.call(guard, "interfaces.stop", {{"interface", id}}, answer);
    else if (item.kind == AliveItem::Kind::Sandbox)
        client.call(guard, "sandboxes.stop", {{"sandbox", id}}, answer);
    else if (item.kind == AliveItem::Kind::Job)
        client.call(guard, "jobs.cancel", {{"job", id}}, answer);
}

void whenJobEnds(
    api::Client& client, QObject* guard, const std::string& job, std::function<void(Result<Json>)> handler)
{
    new JobWatch(client, guard, job, std::move(handler));
}

} // namespace gb::ui
