// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "writer.h"

#include <algorithm>

namespace gb {
namespace {

constexpr std::size_t mostOpenFiles = 24;
constexpr std::size_t mostQueuedBytes = 256U << 20U;
constexpr int foldAtPages = 2000; // 8 MB of log

} // namespace

Writer::Writer(std::unique_ptr<StoreFile> index, Opener opener)
    : m_index(std::move(index)), m_opener(std::move(opener)), m_thread([this] { loop(); })
{ }

Writer::~Writer()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_wake.notify_all();
    m_thread.join();
}

void Writer::setListener(Listener listener)
{
    const std::lock_guard lock(m_listenerMutex);
    m_listener = std::move(listener);
}

void Writer::submit(WriteTask task)
{
    std::function<void(Status)> refused;
    {
        const std::lock_guard lock(m_mutex);
        if (m_queuedBytes + task.bytes <= mostQueuedBytes) {
            m_queuedBytes += task.bytes;
            m_queue.push_back(std::move(task));
        } else {
            refused = std::move(task.done);
        }
    }
    if (refused)
        refused(fail("store.busy", "too much is waiting to be written; try again"));
    else
        m_wake.notify_one();
}

void Writer::submitAlone(std::function<void()> work)
{
    {
        const std::lock_guard lock(m_mutex);
        m_alone.push_back(std::move(work));
    }
    m_wake.notify_one();
}

void Writer::forget(const std::string& run)
{
    m_open.remove_if([&](const auto& entry) { return entry.first == run; });
}

bool Writer::takeQueued(std::vector<WriteTask>& tasks, std::vector<std::function<void()>>& alone)
{
    std::unique_lock lock(m_mutex);
    m_wake.wait(lock, [this] { return m_ending || !m_queue.empty() || !m_alone.empty(); });
    tasks.swap(m_queue);
    alone.swap(m_alone);
    m_queuedBytes = 0;
    return !tasks.empty() || !alone.empty() || !m_ending;
}

void Writer::loop()
{
    for (;;) {
        std::vector<WriteTask> tasks;
        std::vector<std::function<void()>> alone;
        if (!takeQueued(tasks, alone))
            return;
        cycle(std::move(tasks));
        for (const auto& work : alone)
            work();
        foldLogs();
    }
}

void Writer::cycle(std::vector<WriteTask> tasks)
{
    std::vector<Running> all;
    all.reserve(tasks.size());
    for (WriteTask& task : tasks)
        all.push_back({std::move(task), 0, {}, false});
    for (;;) {
        std::vector<std::pair<std::string, Group>> groups;
        std::unordered_map<std::string, std::size_t> positions;
        for (Running& running : all) {
            if (running.finished)
                continue;
            const std::string& name = running.task.steps[running.step].file;
            const auto [it, added] = positions.emplace(name, groups.size());
            if (added)
                groups.emplace_back(name, Group());
            groups[it->second].second.push_back(&running);
        }
        if (groups.empty())
            return;
        for (const auto& [name, group] : groups)
            runGroup(name, group);
    }
}

void Writer::runGroup(const std::string& name, const Group& group)
{
    const Result<StoreFile*> opened = file(name);
    Status status = opened ? writeGroup(**opened, group) : Status(fail(opened.error()));
    if (status)
        publish(**opened);
    else if (opened && !name.empty() && status.error().code == "store.io")
        forget(name); // after a failed fsync only a fresh look at the file tells what it holds
    for (Running* running : group) {
        if (!status && running->status)
            running->status = status;
        if (!running->status || ++running->step == running->task.steps.size())
            finish(*running);
    }
}

Status Writer::writeGroup(StoreFile& file, const Group& group)
{
    const bool isBrief = std::ranges::all_of(
        group, [](const Running* running) { return running->task.durability == Durability::KilledProcess; });
    GB_TRY(file.begin(isBrief ? Durability::KilledProcess : Durability::PowerCut));
    for (Running* running : group) {
        Status part = file.beginPart();
        if (part) {
            part = running->task.steps[running->step].work(file);
            if (part)
                part = file.endPart();
        }
        if (part)
            continue;
        // A full disk or a failed write may have ended the transaction for everyone in it.
        if (!file.database().inTransaction()) {
            file.rollBack();
            return part;
        }
        file.undoPart();
        running->status = part;
    }
    return file.commit();
}

void Writer::publish(StoreFile& file)
{
    const std::vector<EventBatch> batches = file.takeEvents();
    if (batches.empty())
        return;
    const std::lock_guard lock(m_listenerMutex);
    if (!m_listener)
        return;
    for (const EventBatch& batch : batches)
        m_listener(batch);
}

void Writer::finish(Running& running)
{
    running.finished = true;
    if (running.status && !running.task.closeAfter.empty())
        forget(running.task.closeAfter);
    if (running.task.done)
        running.task.done(std::move(running.status));
    running.task = {};
}

Result<StoreFile*> Writer::file(const std::string& run)
{
    if (run.empty())
        return m_index.get();
    const auto found =
        std::find_if(m_open.begin(), m_open.end(), [&](const auto& entry) { return entry.first == run; });
    if (found != m_open.end()) {
        m_open.splice(m_open.begin(), m_open, found);
        return m_open.front().second.get();
    }
    auto opened = m_opener(run);
    if (!opened)
        return fail(opened.error());
    m_open.emplace_front(run, std::move(*opened));
    if (m_open.size() > mostOpenFiles)
        m_open.pop_back();
    return m_open.front().second.get();
}

void Writer::foldLogs()
{
    // Here and not inside a commit: whoever waited for an answer has it already.
    if (m_index->database().walPages() >= foldAtPages)
        m_index->database().checkpoint();
    for (const auto& [run, opened] : m_open)
        if (opened->database().walPages() >= foldAtPages)
            opened->database().checkpoint();
}

} // namespace gb
