// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <sqlite3.h>

namespace gb::test {

// A disk in memory for SQLite that can lose its power: what was not synced is then gone, apart from a random
// part of it, whole or torn at a sector, because real disks write in any order. It can also be full.
class PowerCutVfs
{
public:
    explicit PowerCutVfs(std::string name) : m_name(std::move(name))
    {
        m_vfs = *sqlite3_vfs_find(nullptr);
        m_vfs.szOsFile = sizeof(Handle);
        m_vfs.zName = m_name.c_str();
        m_vfs.pAppData = this;
        m_vfs.xOpen = &PowerCutVfs::open;
        m_vfs.xDelete = &PowerCutVfs::remove;
        m_vfs.xAccess = &PowerCutVfs::access;
        m_vfs.xFullPathname = &PowerCutVfs::fullPath;
        sqlite3_vfs_register(&m_vfs, 0);
    }
    ~PowerCutVfs() { sqlite3_vfs_unregister(&m_vfs); }
    PowerCutVfs(const PowerCutVfs&) = delete;
    PowerCutVfs& operator=(const PowerCutVfs&) = delete;

    const std::string& name() const { return m_name; }
    bool isDark() const { return m_left <= 0; }
    // The power goes after so many more writes and syncs; from then on each of them fails.
    void cutAfter(std::int64_t operations) { m_left = operations; }
    void setCapacity(std::size_t bytes) { m_capacity = bytes; }

    // Once everything is closed: the disk as it is found after the cut.
    void restart(unsigned seed)
    {
        const std::lock_guard lock(m_mutex);
        std::mt19937 random(seed);
        std::map<std::string, std::shared_ptr<File>> found;
        for (const auto& [path, file] : m_files) {
            if (!file->named)
                continue;
            auto fresh = std::make_shared<File>();
            fresh->named = true;
            fresh->durable = file->durable;
            for (const Change& change : file->unsynced)
                if (random() % 3 == 0)
                    apply(fresh->durable, torn(change, random));
            fresh->current = fresh->durable;
            found.emplace(path, std::move(fresh));
        }
        m_files = std::move(found);
        m_left = never;
    }

private:
    static constexpr std::int64_t never = std::int64_t(1) << 60;

    struct Change
    {
        bool truncate = false;
        std::size_t offset = 0; // or the new size
        std::string bytes;
    };

    struct Handle;

    struct File
    {
        std::string current;
        std::string durable;
        std::vector<Change> unsynced;
        bool named = false; // its name has reached the disk
        std::vector<std::unique_ptr<char[]>> shared;
        std::array<int, SQLITE_SHM_NLOCK> sharedLocks{};
        std::array<Handle*, SQLITE_SHM_NLOCK> exclusiveLocks{};
        int readers = 0;
        Handle* reserved = nullptr;
        Handle* exclusive = nullptr;
    };

    struct Handle
    {
        sqlite3_file base;
        PowerCutVfs* disk;
        std::shared_ptr<File>* file; // SQLite hands us raw memory, so no member with a constructor
        int level;
        unsigned sharedMask;
    };

    static void apply(std::string& content, const Change& change)
    {
        if (change.truncate) {
            content.resize(change.offset);
            return;
        }
        if (content.size() < change.offset + change.bytes.size())
            content.resize(change.offset + change.bytes.size());
        std::memcpy(content.data() + change.offset, change.bytes.data(), change.bytes.size());
    }

    static Change torn(Change change, std::mt19937& random)
    {
        constexpr std::size_t sector = 512;
        if (!change.truncate && change.bytes.size() > sector && random() % 4 == 0)
            change.bytes.resize(sector * (1 + random() % (change.bytes.size() / sector)));
        return change;
    }

    static PowerCutVfs& of(sqlite3_vfs* vfs) { return *static_cast<PowerCutVfs*>(vfs->pAppData); }
    static Handle& of(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
    bool hasPower() { return --m_left > 0; }

    bool hasRoomFor(const File& file, std::size_t end) const
    {
        if (end <= file.current.size())
            return true;
        std::size_t used = end - file.current.size();
        for (const auto& [path, other] : m_files)
            used += other->current.size();
        return used <= m_capacity;
    }

    static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* base, int flags, int* outFlags)
    {
        PowerCutVfs& disk = of(vfs);
        const std::lock_guard lock(disk.m_mutex);
        Handle& handle = of(base);
        handle.base.pMethods = nullptr;
        auto file = std::make_shared<File>();
        if (name != nullptr) {
            const auto found = disk.m_files.find(name);
            if (found == disk.m_files.end() && (flags & SQLITE_OPEN_CREATE) == 0)
                return SQLITE_CANTOPEN;
            file = found == disk.m_files.end() ? file : found->second;
            disk.m_files[name] = file;
        }
        handle.disk = &disk;
        handle.file = new std::shared_ptr<File>(std::move(file));
        handle.level = SQLITE_LOCK_NONE;
        handle.sharedMask = 0;
        handle.base.pMethods = &methods;
        if (outFlags != nullptr)
            *outFlags = flags;
        return SQLITE_OK;
    }

    static int remove(sqlite3_vfs* vfs, const char* name, int)
    {
        PowerCutVfs& disk = of(vfs);
        const std::lock_guard lock(disk.m_mutex);
        if (!disk.hasPower())
            return SQLITE_IOERR_DELETE;
        return disk.m_files.erase(name) > 0 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
    }

    static int access(sqlite3_vfs* vfs, const char* name, int, int* result)
    {
        PowerCutVfs& disk = of(vfs);
        const std::lock_guard lock(disk.m_mutex);
        const auto found = disk.m_files.find(name);
        *result = found != disk.m_files.end();
        return SQLITE_OK;
    }

    static int fullPath(sqlite3_vfs*, const char* name, int size, char* out)
    {
        sqlite3_snprintf(size, out, "%s", name);
        return SQLITE_OK;
    }

    static int close(sqlite3_file* base)
    {
        Handle& handle = of(base);
        unlock(base, SQLITE_LOCK_NONE);
        delete handle.file;
        handle.base.pMethods = nullptr;
        return SQLITE_OK;
    }

    static int read(sqlite3_file* base, void* out, int size, sqlite3_int64 offset)
    {
        const std::lock_guard lock(of(base).disk->m_mutex);
        const std::string& content = (*of(base).file)->current;
        const std::size_t from = std::min(std::size_t(offset), content.size());
        const std::size_t count = std::min(std::size_t(size), content.size() - from);
        std::memcpy(out, content.data() + from, count);
        std::memset(static_cast<char*>(out) + count, 0, std::size_t(size) - count);
        return count == std::size_t(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
    }

    static int write(sqlite3_file* base, const void* bytes, int size, sqlite3_int64 offset)
    {
        Handle& handle = of(base);
        const std::lock_guard lock(handle.disk->m_mutex);
        if (!handle.disk->hasPower())
            return SQLITE_IOERR_WRITE;
        File& file = **handle.file;
        if (!handle.disk->hasRoomFor(file, std::size_t(offset) + std::size_t(size)))
            return SQLITE_FULL;
        file.unsynced.push_back(
            {false, std::size_t(offset), std::string(static_cast<const char*>(bytes), std::size_t(size))});
        apply(file.current, file.unsynced.back());
        return SQLITE_OK;
    }

    static int truncate(sqlite3_file* base, sqlite3_int64 size)
    {
        Handle& handle = of(base);
        const std::lock_guard lock(handle.disk->m_mutex);
        if (!handle.disk->hasPower())
            return SQLITE_IOERR_TRUNCATE;
        File& file = **handle.file;
        file.unsynced.push_back({true, std::size_t(size), {}});
        apply(file.current, file.unsynced.back());
        return SQLITE_OK;
    }

    static int sync(sqlite3_file* base, int)
    {
        Handle& handle = of(base);
        const std::lock_guard lock(handle.disk->m_mutex);
        if (!handle.disk->hasPower())
            return SQLITE_IOERR_FSYNC;
        File& file = **handle.file;
        for (const Change& change : file.unsynced)
            apply(file.durable, change);
        file.unsynced.clear();
        file.named = true;
        return SQLITE_OK;
    }

    static int fileSize(sqlite3_file* base, sqlite3_int64* size)
    {
        const std::lock_guard lock(of(base).disk->m_mutex);
        *size = sqlite3_int64((*of(base).file)->current.size());
        return SQLITE_OK;
    }

    static int lock(sqlite3_file* base, int level)
    {
        Handle& handle = of(base);
        const std::lock_guard guard(handle.disk->m_mutex);
        File& file = **handle.file;
        if (level <= handle.level)
            return SQLITE_OK;
        if (file.exclusive != nullptr && file.exclusive != &handle)
            return SQLITE_BUSY;
        if (level >= SQLITE_LOCK_RESERVED && file.reserved != nullptr && file.reserved != &handle)
            return SQLITE_BUSY;
        if (level == SQLITE_LOCK_EXCLUSIVE && file.readers > (handle.level >= SQLITE_LOCK_SHARED ? 1 : 0))
            return SQLITE_BUSY;
        if (handle.level == SQLITE_LOCK_NONE)
            ++file.readers;
        if (level >= SQLITE_LOCK_RESERVED)
            file.reserved = &handle;
        if (level == SQLITE_LOCK_EXCLUSIVE)
            file.exclusive = &handle;
        handle.level = level;
        return SQLITE_OK;
    }

    static int unlock(sqlite3_file* base, int level)
    {
        Handle& handle = of(base);
        const std::lock_guard guard(handle.disk->m_mutex);
        File& file = **handle.file;
        if (level >= handle.level)
            return SQLITE_OK;
        if (file.exclusive == &handle)
            file.exclusive = nullptr;
        if (file.reserved == &handle)
            file.reserved = nullptr;
        if (level == SQLITE_LOCK_NONE)
            --file.readers;
        handle.level = level;
        return SQLITE_OK;
    }

    static int checkReserved(sqlite3_file* base, int* result)
    {
        const std::lock_guard guard(of(base).disk->m_mutex);
        *result = (*of(base).file)->reserved != nullptr;
        return SQLITE_OK;
    }

    static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
    static int sectorSize(sqlite3_file*) { return 4096; }
    static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

    static int shmMap(sqlite3_file* base, int region, int size, int extend, void volatile** out)
    {
        const std::lock_guard guard(of(base).disk->m_mutex);
        File& file = **of(base).file;
        while (extend != 0 && file.shared.size() <= std::size_t(region))
            file.shared.push_back(std::make_unique<char[]>(std::size_t(size)));
        *out = std::size_t(region) < file.shared.size() ? file.shared[std::size_t(region)].get() : nullptr;
        return SQLITE_OK;
    }

    static int shmLock(sqlite3_file* base, int offset, int count, int flags)
    {
        Handle& handle = of(base);
        const std::lock_guard guard(handle.disk->m_mutex);
        File& file = **handle.file;
        for (int i = offset; (flags & SQLITE_SHM_LOCK) != 0 && i < offset + count; ++i) {
            const std::size_t slot = std::size_t(i);
            const bool mine = (handle.sharedMask & (1U << slot)) != 0;
            if (file.exclusiveLocks[slot] != nullptr && file.exclusiveLocks[slot] != &handle)
                return SQLITE_BUSY;
            if ((flags & SQLITE_SHM_EXCLUSIVE) != 0 && file.sharedLocks[slot] > (mine ? 1 : 0))
                return SQLITE_BUSY;
        }
        for (int i = offset; i < offset + count; ++i)
            setShmLock(file, handle, std::size_t(i), flags);
        return SQLITE_OK;
    }

    static void setShmLock(File& file, Handle& handle, std::size_t slot, int flags)
    {
        const bool take = (flags & SQLITE_SHM_LOCK) != 0;
        const unsigned bit = 1U << slot;
        if ((flags & SQLITE_SHM_EXCLUSIVE) != 0) {
            file.exclusiveLocks[slot] = take ? &handle : nullptr;
        } else if (take != ((handle.sharedMask & bit) != 0)) {
            file.sharedLocks[slot] += take ? 1 : -1;
            handle.sharedMask ^= bit;
        }
    }

    static void shmBarrier(sqlite3_file* base) { const std::lock_guard guard(of(base).disk->m_mutex); }
    static int shmUnmap(sqlite3_file*, int) { return SQLITE_OK; }

    static inline const sqlite3_io_methods methods = {2, &close, &read, &write, &truncate, &sync, &fileSize,
        &lock, &unlock, &checkReserved, &control, &sectorSize, &characteristics, &shmMap, &shmLock,
        &shmBarrier, &shmUnmap, nullptr, nullptr};

    std::string m_name;
    sqlite3_vfs m_vfs;
    std::recursive_mutex m_mutex;
    std::map<std::string, std::shared_ptr<File>> m_files;
    std::atomic<std::int64_t> m_left = never;
    std::size_t m_capacity = std::size_t(1) << 40U;
};

} // namespace gb::test
