// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// What is asked of sandboxes and what is shown of them; sandboxlife.cpp has how they come and go,
// sandboxlinks.cpp how they are found again.

#include "sandboxes.h"

#include <algorithm>

#include <backend/base/log.h>

#include "interfaces.h"
#include "joblist.h"
#include "statehub.h"

namespace gb::service {
namespace {

constexpr int compareEveryMs = 60'000;
constexpr int providersAtOnce = 64; // threads that mostly wait

tl::unexpected<Error> unknownSandbox(const std::string& sandbox)
{
    return fail("sandbox.unknown", "no sandbox is called " + sandbox, Json{{"sandbox", sandbox}});
}

} // namespace

Sandboxes::Sandboxes(Parts parts, SandboxProviders providers)
    : m_parts(std::move(parts)), m_providers(std::move(providers))
{
    m_pool.setMaxThreadCount(providersAtOnce);
    m_minute.setInterval(compareEveryMs);
    connect(&m_minute, &QTimer::timeout, this, [this] {
        for (const auto& provider : m_providers)
            reconcile(provider, m_unlisted.contains(provider->id()));
    });
    connect(m_parts.interfaces, &Interfaces::changed, this, [this] {
        for (const auto& [id, box] : m_boxes) {
            if (const SandboxRecord* record = m_registry ? m_registry->find(id) : nullptr;
                record && record->isAlive())
                publish(id);
        }
    });
    m_parts.interfaces->setSandboxLookup([this](const std::string& interface) -> std::string {
        if (!m_registry)
            return {};
        for (const SandboxRecord& record : m_registry->list()) {
            const auto served = record.details.find("interfaces");
            if (served != record.details.end()
                && std::ranges::find(*served, Json(interface)) != served->end())
                return record.id;
        }
        return {};
    });
}

Sandboxes::~Sandboxes()
{
    *m_leaving = true;
    m_parts.interfaces->disconnect(this);
    m_parts.interfaces->setSandboxLookup({});
    m_pool.waitForDone();
}

Status Sandboxes::open()
{
    auto registry = SandboxRegistry::open(m_parts.dataFolder / "sandboxes");
    if (!registry)
        return fail(registry.error());
    m_registry = std::make_unique<SandboxRegistry>(std::move(*registry));
    for (const SandboxRecord& record : m_registry->list()) {
        m_boxes[record.id];
        publish(record.id);
    }
    for (const auto& provider : m_providers) {
        m_unlisted.insert(provider->id());
        reconcile(provider, true);
        onPool([provider] { provider->prepare(); });
    }
    m_minute.start();
    return {};
}

std::shared_ptr<SandboxProvider> Sandboxes::provider(const std::string& id) const
{
    const auto found =
        std::ranges::find_if(m_providers, [&](const auto& provider) { return provider->id() == id; });
    return found == m_providers.end() ? nullptr : *found;
}

Json Sandboxes::interfacesOf(const std::string& id) const
{
    Json ids = Json::array();
    for (const Json& interface : m_parts.interfaces->list()) {
        if (stringOr(interface, "sandbox") == id && stringOr(interface, "state") != "gone")
            ids.push_back(interface["id"]);
    }
    return ids;
}

Json Sandboxes::item(const SandboxRecord& record) const
{
    const auto found = m_boxes.find(record.id);
    const auto warnings = record.details.find("warnings");
    Json item{{"id", record.id}, {"name", stringOr(record.details, "name")},
        {"provider", record.spec.provider}, {"scoped", record.spec.scoped}, {"state", toString(record.state)},
        {"since", record.since}, {"created_at", record.createdAt}, {"interfaces", interfacesOf(record.id)},
        {"warnings", warnings == record.details.end() ? 0 : warnings->size()}};
    if (!record.reason.empty())
        item["reason"] = record.reason;
    if (!record.experiment.empty())
        item["experiment"] = record.experiment;
    for (const char* key : {"error", "job"}) {
        if (const auto value = record.details.find(key); value != record.details.end() && !value->is_null())
            item[key] = *value;
    }
    if (found != m_boxes.end() && found->second.endsAt > 0 && record.isAlive())
        item["ends_at"] = found->second.endsAt;
    if (found != m_boxes.end() && found->second.isEnding && record.isAlive())
        item["ending"] = true;
    return item;
}

void Sandboxes::publish(const std::string& id)
{
    if (const SandboxRecord* record = m_registry->find(id))
        m_parts.state->set("sandboxes", id, item(*record));
    else
        m_parts.state->remove("sandboxes", id);
}

Json Sandboxes::list() const
{
    Json all = Json::array();
    for (const SandboxRecord& record : m_registry->list())
        all.push_back(item(record));
    return all;
}

Result<Json> Sandboxes::get(const std::string& sandbox) const
{
    const auto record = find(sandbox);
    if (!record)
        return fail(record.error());
    Json all = item(*record);
    all["spec"] = record->spec.toJson();
    all["steps"] = record->details.value("steps", Json::array());
    if (const auto box = m_boxes.find(record->id); box != m_boxes.end() && !box->second.steps.empty()) {
        all["steps"] = Json::array();
        for (const StepProgress& progress : box->second.steps) {
            Json step = progress.step.toJson();
            step["state"] = progress.state;
            if (progress.startedAt > 0)
                step["started_at"] = progress.startedAt;
            if (progress.endedAt > 0)
                step["ended_at"] = progress.endedAt;
            all["steps"].push_back(std::move(step));
        }
    }
    all["warnings"] = record->details.value("warnings", Json::array());
    if (const auto box = m_boxes.find(record->id); box != m_boxes.end() && !box->second.limits.empty())
        all["limits"] = box->second.limits;
    if (const auto ended = record->details.find("ended"); ended != record->details.end())
        all["ended"] = *ended;
    return all;
}

Json Sandboxes::alive() const
{
    Json all = Json::array();
    for (const SandboxRecord& record : m_registry ? m_registry->list() : std::vector<SandboxRecord>()) {
        if (record.isAlive())
            all.push_back(
                Json{{"kind", "sandbox"}, {"id", record.id}, {"title", stringOr(record.details, "name")}});
    }
    return all;
}

Result<SandboxRecord> Sandboxes::find(const std::string& sandbox) const
{
    if (const SandboxRecord* record = m_registry->find(sandbox))
        return *record;
    // A name means the one that is alive, else the one that was made last.
    const SandboxRecord* found = nullptr;
    const auto records = m_registry->list();
    for (const SandboxRecord& record : records) {
        if (stringOr(record.details, "name") != sandbox)
            continue;
        if (found && found->isAlive() && record.isAlive())
            return fail("sandbox.ambiguous", "several sandboxes are called " + sandbox + "; use an id",
                Json{{"sandbox", sandbox}});
        if (!found || record.isAlive() || (!found->isAlive() && found->createdAt <= record.createdAt))
            found = &record;
    }
    if (!found)
        return unknownSandbox(sandbox);
    return *found;
}

std::vector<SandboxRecord> Sandboxes::wanted() const
{
    auto records = m_registry->list();
    std::erase_if(records, [](const SandboxRecord& record) { return !record.isAlive(); });
    return records;
}

std::vector<std::string> Sandboxes::usersOf(const std::string& model) const
{
    std::vector<std::string> names;
    for (const SandboxRecord& record : wanted()) {
        const bool isUser = std::ranges::any_of(record.spec.models, [&](const ModelSpec& used) {
            return (used.path.empty() && used.name == model) || (used.isPeft && used.baseModel == model);
        });
        if (isUser)
            names.push_back(stringOr(record.details, "name"));
    }
    return names;
}

void Sandboxes::onPool(std::function<void()> task)
{
    m_pool.start(std::move(task));
}

void Sandboxes::post(std::function<void()> task)
{
    QMetaObject::invokeMethod(this, std::move(task), Qt::QueuedConnection);
}

void Sandboxes::work(Reply reply, std::function<Result<Json>()> task)
{
    // The reply must end its life on the daemon's thread.
    auto held = std::make_shared<std::unique_ptr<Reply>>(std::make_unique<Reply>(std::move(reply)));
    onPool([this, held, task = std::move(task)] {
        auto outcome = std::make_shared<Result<Json>>(task());
        post([held, outcome] {
            const auto own = std::move(*held);
            own->finish(std::move(*outcome));
        });
    });
}

void Sandboxes::transition(
    const std::string& id, SandboxState state, const std::string& reason, const RecordChange& change)
{
    if (const Status done = m_registry->transition(id, state, reason, change); !done)
        logError("sandboxes", done.error().message, Json{{"sandbox", id}, {"code", done.error().code}});
    publish(id);
    if (state != SandboxState::Ready)
        flushWaiting(id, fail("sandbox.gone", "the sandbox does not run any more"));
    Q_EMIT changed();
}

void Sandboxes::setDetail(const std::string& id, const std::string& name, const Json& value)
{
    if (const Status done = m_registry->setDetail(id, name, value); !done)
        logError("sandboxes", done.error().message, Json{{"sandbox", id}, {"code", done.error().code}});
}

} // namespace gb::service
