// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxregistry.h"

#include <algorithm>
#include <set>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/base/log.h>

namespace gb {

Result<SandboxRegistry> SandboxRegistry::open(const fs::path& folder)
{
    GB_TRY(ensurePrivateDir(folder));
    SandboxRegistry registry(folder);
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".json")
            continue;
        const auto json = parseJson(readFile(entry.path()).value_or(""));
        auto record = json ? SandboxRecord::fromJson(*json) : Result<SandboxRecord>(fail(json.error()));
        if (record)
            registry.m_records[record->id] = std::move(*record);
        else
            logWarning("sandbox", "a record cannot be read", Json{{"file", entry.path().string()}});
    }
    return registry;
}

Status SandboxRegistry::write(SandboxRecord record)
{
    constexpr unsigned ownOnly = 0600;
    GB_TRY(writeFileAtomic(m_folder / (record.id + ".json"), record.toJson().dump(1), ownOnly));
    m_records[record.id] = std::move(record);
    return {};
}

Result<SandboxRecord> SandboxRegistry::add(
    const std::string& id, const SandboxSpec& spec, const std::string& experiment, const Json& details)
{
    if (!isId(id) || m_records.contains(id))
        return fail("sandbox.id", "a sandbox needs a new id");
    SandboxRecord record;
    record.id = id;
    record.nonce = newToken();
    record.experiment = experiment;
    record.spec = spec;
    record.details = details;
    record.createdAt = record.since = wallMs();
    GB_TRY(write(record));
    return record;
}

const SandboxRecord* SandboxRegistry::find(const std::string& id) const
{
    const auto found = m_records.find(id);
    return found == m_records.end() ? nullptr : &found->second;
}

Status SandboxRegistry::transition(
    const std::string& id, SandboxState state, const std::string& reason, const RecordChange& change)
{
    const SandboxRecord* known = find(id);
    if (!known)
        return fail("sandbox.unknown", "there is no sandbox " + id);
    if (!mayFollow(known->state, state))
        return fail("sandbox.state",
            "a sandbox that is " + std::string(toString(known->state)) + " cannot become "
                + std::string(toString(state)),
            Json{{"from", toString(known->state)}, {"to", toString(state)}});
    SandboxRecord record = *known;
    record.state = state;
    record.reason = reason.empty() && state == SandboxState::Stopped ? record.reason : reason;
    record.since = wallMs();
    record.details.update(change.details);
    if (change.handle)
        record.handle = *change.handle;
    return write(std::move(record));
}

Status SandboxRegistry::setHandle(const std::string& id, const Json& handle)
{
    const SandboxRecord* known = find(id);
    if (!known)
        return fail("sandbox.unknown", "there is no sandbox " + id);
    SandboxRecord record = *known;
    record.handle = handle;
    return write(std::move(record));
}

Status SandboxRegistry::setDetail(const std::string& id, const std::string& name, const Json& value)
{
    const SandboxRecord* known = find(id);
    if (!known)
        return fail("sandbox.unknown", "there is no sandbox " + id);
    SandboxRecord record = *known;
    record.details[name] = value;
    return write(std::move(record));
}

Status SandboxRegistry::countStopAttempt(const std::string& id)
{
    const SandboxRecord* known = find(id);
    if (!known || known->state != SandboxState::Stopping)
        return fail("sandbox.state", id + " is not being stopped");
    SandboxRecord record = *known;
    ++record.stopAttempts;
    return write(std::move(record));
}

Status SandboxRegistry::forget(const std::string& id)
{
    const SandboxRecord* known = find(id);
    if (!known)
        return {};
    if (known->state != SandboxState::Stopped)
        return fail(
            "sandbox.state", "only a stopped sandbox can be forgotten: something of it may still exist");
    std::error_code error;
    fs::remove(m_folder / (id + ".json"), error);
    if (error)
        return failErrno("cannot remove", (m_folder / (id + ".json")).string(), error.value());
    m_records.erase(id);
    return {};
}

std::vector<SandboxRecord> SandboxRegistry::list() const
{
    std::vector<SandboxRecord> records;
    for (const auto& [id, record] : m_records)
        records.push_back(record);
    std::ranges::sort(records, [](const auto& a, const auto& b) {
        return a.createdAt != b.createdAt ? a.createdAt > b.createdAt : a.id > b.id;
    });
    return records;
}

SandboxRegistry::States SandboxRegistry::states() const
{
    States all;
    for (const SandboxRecord& record : list())
        all.emplace(record.id, record.state);
    return all;
}

Result<Reconciliation> SandboxRegistry::reconcile(
    const std::string& provider, const std::vector<FoundSandbox>& found, const States& before, bool isStart)
{
    Reconciliation outcome;
    std::set<std::string> exists;
    for (const FoundSandbox& one : found) {
        const SandboxRecord* record = find(one.id);
        const bool isOurs = record && record->spec.provider == provider
            && sameSecret(record->nonce, one.nonce) && !exists.contains(one.id);
        if (isOurs)
            exists.insert(one.id);
        const bool wanted =
            isOurs && (record->state == SandboxState::Starting || record->state == SandboxState::Ready);
        // Between two looks a build may just have created it; only after a restart is nobody behind it.
        const bool underway = isOurs && !(isStart && before.contains(one.id))
            && (record->state == SandboxState::Planned || record->state == SandboxState::Building);
        if (wanted)
            outcome.adopt.push_back(one.id);
        else if (!underway)
            outcome.reap.push_back(one);
    }
    for (const SandboxRecord& record : list()) {
        const auto then = before.find(record.id);
        if (record.spec.provider != provider || exists.contains(record.id) || then == before.end()
            || then->second != record.state)
            continue;
        const bool shouldExist = record.state == SandboxState::Ready || (isStart && record.isAlive());
        if (record.state == SandboxState::Stopping) {
            GB_TRY(transition(record.id, SandboxState::Stopped));
            outcome.ended.push_back(record.id);
        } else if (shouldExist) {
            const bool ran = record.state == SandboxState::Ready;
            GB_TRY(transition(record.id, SandboxState::Failed, ran ? "lost" : "interrupted"));
            outcome.lost.push_back(record.id);
        }
    }
    return outcome;
}

} // namespace gb
