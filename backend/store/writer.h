// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "storefile.h"

namespace gb {

// One piece of a write in one file. `file` is a run's id, or empty for the index.
struct WriteStep
{
    std::string file;
    std::function<Status(StoreFile&)> work;
};

// Steps are made durable one after the other; `done` is called on the writer's thread once the last one is,
// or at once with the error of the first that failed.
struct WriteTask
{
    std::vector<WriteStep> steps;
    std::function<void(Status)> done;
    std::size_t bytes = 0;
    std::string closeAfter; // a run's file that is complete now
    Durability durability = Durability::PowerCut;
};

// The one thread that writes. Whatever has queued up while it was waiting for the disk goes into the next
// transaction together, one per file: a lone event waits for nobody, a crowd shares one fsync.
class Writer
{
public:
    using Opener = std::function<Result<std::unique_ptr<StoreFile>>(const std::string& run)>;
    using Listener = std::function<void(const EventBatch&)>;

    Writer(std::unique_ptr<StoreFile> index, Opener opener);
    ~Writer(); // writes what is queued, then ends
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void setListener(Listener listener);
    void submit(WriteTask task); // any thread
    // Runs alone on the writer's thread, with no transaction open.
    void submitAlone(std::function<void()> work);
    // Only from work running alone, or from `done`.
    StoreFile& index() { return *m_index; }
    void forget(const std::string& run);

private:
    struct Running
    {
        WriteTask task;
        std::size_t step = 0;
        Status status;
        bool finished = false;
    };
    using Group = std::vector<Running*>;

    void loop();
    bool takeQueued(std::vector<WriteTask>& tasks, std::vector<std::function<void()>>& alone);
    void cycle(std::vector<WriteTask> tasks);
    void runGroup(const std::string& file, const Group& group);
    Status writeGroup(StoreFile& file, const Group& group);
    void finish(Running& running);
    void publish(StoreFile& file);
    Result<StoreFile*> file(const std::string& run);
    void foldLogs();

    std::unique_ptr<StoreFile> m_index;
    Opener m_opener;
    std::list<std::pair<std::string, std::unique_ptr<StoreFile>>> m_open; // last used first

    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::vector<WriteTask> m_queue;
    std::vector<std::function<void()>> m_alone;
    std::size_t m_queuedBytes = 0;
    bool m_ending = false;
    std::mutex m_listenerMutex;
    Listener m_listener;
    std::thread m_thread; // last: it uses all of the above
};

} // namespace gb
