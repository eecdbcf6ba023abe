// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "store.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

#include <backend/base/clock.h>
#include <backend/base/ids.h>

#include "filesystem.h"
#include "jsontext.h"
#include "store_p.h"

namespace gb {
namespace {

Status prepareFolder(const fs::path& folder)
{
    if (Status made = ensurePrivateDir(folder); !made) {
        const auto number = int(made.error().data.value("errno", 0));
        return number == 0 ? made : Status(failStore("cannot use folder", folder, number));
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return failStore("cannot write in folder", folder, errno);
    GB_TRY(makeDurableFolder(folder / "runs"));
    return makeDurableFolder(folder / "blobs");
}

fs::path runFilePath(const fs::path& folder, const std::string& run, const std::string& experiment)
{
    return folder / "runs" / (isId(experiment) ? experiment : "none") / (run + ".db");
}

// Every run's file by id, because a stream is named after its run and nothing else.
Result<std::unordered_map<std::string, fs::path>> knownRuns(Database& index, const fs::path& folder)
{
    std::unordered_map<std::string, fs::path> paths;
    auto rows = index.query("SELECT id, experiment FROM runs");
    if (!rows)
        return fail(rows.error());
    for (;;) {
        const Result<bool> more = rows->next();
        if (!more)
            return fail(more.error());
        if (!*more)
            return paths;
        const std::string run = rows->text(0);
        paths.emplace(run, runFilePath(folder, run, rows->text(1)));
    }
}

} // namespace

Store::Private::Private(StoreOptions storeOptions, std::unordered_map<std::string, fs::path> runs,
    std::unique_ptr<StoreFile> index)
    : options(std::move(storeOptions)), fileOptions{options.vfs, options.synchronous},
      indexPath(options.folder / "index.db"), blobs(options.folder / "blobs"), session(newId()),
      readers(fileOptions), runPaths(std::move(runs))
{
    writer =
        std::make_unique<Writer>(std::move(index), [this](const std::string& run) { return openRun(run); });
}

Result<fs::path> Store::Private::runPath(const std::string& run) const
{
    const std::shared_lock lock(mutex);
    if (const auto found = runPaths.find(run); found != runPaths.end())
        return found->second;
    return fail("runs.unknown", "no such run: " + std::string(cutText(run, 64)),
        Json{{"run", std::string(cutText(run, 64))}});
}

fs::path Store::Private::newRunPath(const std::string& run, const std::string& experiment) const
{
    return runFilePath(options.folder, run, experiment);
}

Result<std::string> Store::Private::fileOf(const std::string& stream) const
{
    if (stream == daemonStream)
        return std::string();
    if (const auto path = runPath(stream); !path)
        return fail(path.error());
    return stream;
}

Result<Readers::Lent> Store::Private::readIndex() const
{
    return readers.take(indexPath, indexSchema);
}

Result<Readers::Lent> Store::Private::readRun(const std::string& run) const
{
    const Result<fs::path> path = runPath(run);
    if (!path)
        return fail(path.error());
    return readers.take(*path, runSchema);
}

Result<std::unique_ptr<StoreFile>> Store::Private::openRun(const std::string& run) const
{
    const Result<fs::path> path = runPath(run);
    if (!path)
        return fail(path.error());
    GB_TRY(makeDurableFolder(path->parent_path()));
    return StoreFile::open(*path, runSchema, run, fileOptions);
}

std::shared_ptr<const Redactor> Store::Private::redactor() const
{
    const std::shared_lock lock(mutex);
    return currentRedactor;
}

void Store::Private::writeIndex(
    std::function<Status(StoreFile&)> work, Done<void> done, Durability durability)
{
    writer->submit({{{std::string(), std::move(work)}}, std::move(done), 0, {}, durability});
}

Store::Store(std::unique_ptr<Private> data) : d(std::move(data)) { }

Store::~Store()
{
    // A file is complete without its log only when its writer is the last to close it.
    d->readers.forgetAll();
}

Result<std::unique_ptr<Store>> Store::open(StoreOptions options)
{
    GB_TRY(refuseNetworkFolder(options.folder, options.fileSystemType));
    GB_TRY(prepareFolder(options.folder));
    const FileOptions files{options.vfs, options.synchronous};
    auto index = StoreFile::open(options.folder / "index.db", indexSchema, std::string(daemonStream), files);
    if (!index)
        return fail(index.error());
    auto runs = knownRuns((*index)->database(), options.folder);
    if (!runs)
        return fail(runs.error());
    auto data = std::make_unique<Private>(std::move(options), std::move(*runs), std::move(*index));
    std::unique_ptr<Store> store(new Store(std::move(data)));
    store->prune([](const Status&) {});
    return store;
}

void Store::setSecretValues(const std::vector<SecretValue>& secrets)
{
    auto redactor = std::make_shared<const Redactor>(secrets);
    const std::unique_lock lock(d->mutex);
    d->currentRedactor = std::move(redactor);
}

void Store::setListener(std::function<void(const EventBatch&)> listener)
{
    d->writer->setListener(std::move(listener));
}

} // namespace gb
