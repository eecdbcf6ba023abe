// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include <backend/base/files.h>

#include "sandboxrecord.h"

namespace gb {

// Something a provider says exists, by the tags it was created with.
struct FoundSandbox
{
    std::string id;
    std::string nonce;
    Json handle = Json::object();
};

// What to do after comparing what should exist with what does.
struct Reconciliation
{
    std::vector<std::string> adopt; // ids: ours, alive, go on
    std::vector<FoundSandbox> reap; // exists and should not
    std::vector<std::string> lost; // ids: should exist and does not; now failed
    std::vector<std::string> ended; // ids: were being stopped and are gone; now stopped
};

// What else is written down with a change of state; each write waits for the disk.
struct RecordChange
{
    Json details = Json::object(); // merged into the record's
    std::optional<Json> handle;
};

// The daemon's memory of sandboxes: every intent is on disk before anything is created, every change before
// anybody hears of it. One file per sandbox.
class SandboxRegistry
{
public:
    static Result<SandboxRegistry> open(const fs::path& folder);

    // The intent. Gives the record its nonce and times.
    Result<SandboxRecord> add(const std::string& id, const SandboxSpec& spec, const std::string& experiment,
        const Json& details = Json::object());
    Status transition(const std::string& id, SandboxState state, const std::string& reason = {},
        const RecordChange& change = {});
    Status setHandle(const std::string& id, const Json& handle);
    Status setDetail(const std::string& id, const std::string& name, const Json& value);
    // A stop that was not confirmed stays "stopping" and is tried again; this counts.
    Status countStopAttempt(const std::string& id);
    Status forget(const std::string& id); // only what has stopped

    const SandboxRecord* find(const std::string& id) const;
    std::vector<SandboxRecord> list() const; // newest first

    using States = std::map<std::string, SandboxState>; // by id
    States states() const;
    // At the daemon's start (`isStart`: whatever was only planned or building has no one working on it any
    // more) and from time to time. A look takes its time: only what stands in `before`, as it was when the
    // look began, and is so still, can have been missed by it.
    Result<Reconciliation> reconcile(const std::string& provider, const std::vector<FoundSandbox>& found,
        const States& before, bool isStart);

private:
    explicit SandboxRegistry(fs::path folder) : m_folder(std::move(folder)) { }
    Status write(SandboxRecord record);

    fs::path m_folder;
    std::map<std::string, SandboxRecord> m_records;
};

} // namespace gb
