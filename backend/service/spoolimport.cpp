// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "spoolimport.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include <backend/api/daemonstart.h>
#include <backend/base/ids.h>
#include <backend/base/log.h>
#include <backend/base/paths.h>

#include "onmain.h"
#include "recordframe.h"

namespace gb::service {
namespace {

constexpr std::chrono::minutes youngHost{1};
constexpr std::size_t segmentLimit = 256U << 20U;

std::vector<SpooledRecord> readSegment(const fs::path& path, std::int64_t acked)
{
    std::vector<SpooledRecord> records;
    const auto bytes = readFile(path, segmentLimit);
    if (!bytes) {
        logError("service", bytes.error().message);
        return records;
    }
    rpc::FrameReader reader;
    reader.feed(*bytes);
    // A torn last frame was never acknowledged to anyone: it is where reading ends.
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
        auto record = readRecordFrame(**frame);
        if (record && record->seq > acked)
            records.push_back(std::move(*record));
    }
    return records;
}

std::vector<SpooledRecord> readSpool(const fs::path& spool)
{
    const auto text = readFile(spool / "acked", 64);
    const std::int64_t acked = text ? std::strtoll(text->c_str(), nullptr, 10) : 0;
    std::vector<fs::path> segments;
    std::error_code error;
    for (fs::directory_iterator it(spool, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == ".seg")
            segments.push_back(it->path());
    }
    std::ranges::sort(segments);
    std::vector<SpooledRecord> all;
    for (const fs::path& segment : segments)
        std::ranges::move(readSegment(segment, acked), std::back_inserter(all));
    return all;
}

struct Import
{
    fs::path folder;
    std::set<std::string> runs;
    std::size_t left = 0;
    bool failed = false;
    std::function<void(const std::set<std::string>&)> done;

    void finish() const
    {
        std::error_code error;
        if (!failed)
            fs::remove_all(folder, error);
        if (failed || error)
            logWarning("service", "a host's folder stays", Json{{"folder", folder.string()}});
        done(runs);
    }
};

void finishOne(const std::shared_ptr<Import>& import, const Status& stored)
{
    if (!stored)
        logError("service", "cannot store a call: " + stored.error().message);
    import->failed = import->failed || !stored;
    if (--import->left == 0)
        import->finish();
}

// A host holds a lock in its folder for life. One that is just starting has the folder a moment before the
// lock.
bool isLeftBehind(const fs::path& folder)
{
    std::error_code error;
    if (fs::exists(folder / "lock", error))
        return holdLock(folder / "lock").has_value();
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(folder, error);
    return !error && age > youngHost;
}

// The run of a host that no daemon ever met is made from what its records say.
void createMissingRuns(Store* store, QObject* guard, const std::shared_ptr<Import>& import,
    const std::vector<SpooledRecord>& records)
{
    for (const SpooledRecord& spooled : records) {
        const std::string& run = spooled.record.run;
        if (!import->runs.insert(run).second || store->getRun(run))
            continue;
        RunSpec spec;
        spec.id = run;
        spec.kind = "hands-on";
        spec.title = spooled.record.interfaceName;
        ++import->left;
        // Writes are done in order, so the run is there before its calls.
        store->createRun(
            std::move(spec), onMain<RunRecord>(guard, [import](const Result<RunRecord>& created) {
                finishOne(import, created ? Status() : Status(fail(created.error())));
            }));
    }
}

} // namespace

FoundHosts findHosts(const fs::path& dataFolder, const std::set<std::string>& known)
{
    FoundHosts found;
    const auto sockets = socketFolder(dataFolder);
    std::error_code error;
    for (fs::directory_iterator it(dataFolder / "hosts", error), end; sockets && !error && it != end;
         it.increment(error)) {
        const std::string id = it->path().filename().string();
        if (!isId(id) || known.contains(id))
            continue;
        const fs::path control = *sockets / (id + ".ctl");
        if (api::connectLocal(control))
            found.living.push_back(control);
        else if (isLeftBehind(it->path()))
            found.dead.push_back(id);
    }
    return found;
}

void importSpool(Store* store, QObject* guard, const fs::path& hostFolder,
    std::function<void(const std::set<std::string>&)> done)
{
    auto records = readSpool(hostFolder / "spool");
    auto import = std::make_shared<Import>();
    import->folder = hostFolder;
    import->done = std::move(done);
    import->left = records.size();
    if (records.empty()) {
        QMetaObject::invokeMethod(
            guard, [import] { import->finish(); }, Qt::QueuedConnection);
        return;
    }
    createMissingRuns(store, guard, import, records);
    for (SpooledRecord& spooled : records)
        store->putCall(std::move(spooled.record),
            onMain<void>(guard, [import](const Status& stored) { finishOne(import, stored); }));
}

} // namespace gb::service
