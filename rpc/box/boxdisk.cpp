// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxdisk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include <sys/statvfs.h>

#include <backend/base/clock.h>

namespace gb::rpc {
namespace {

constexpr std::int64_t measureEveryMs = 2'000;
constexpr std::int64_t muchGrowth = 64LL << 20;

// What one sandbox may hold of all files there can be, once there is room for few more.
constexpr std::int64_t shareOfFiles = 4;
constexpr std::int64_t manyFiles = 50'000;

// The folder, whether its bytes matter, and up to how many files are counted (empty: they do not matter).
constexpr const char* measuring = R"sh([ -z "$2" ] || du -s --block-size=1 "$1" | sed 's/^/bytes /'
[ -z "$3" ] || echo "files $(find "$1" -printf x | head -c "$3" | wc -c)")sh";

struct Space
{
    std::int64_t bytes = 0;
    std::int64_t freeBytes = 0;
    std::int64_t files = 0;
    std::int64_t freeFiles = 0;
};

Space spaceOf(const fs::path& folder)
{
    struct statvfs info
    { };
    if (::statvfs(folder.c_str(), &info) != 0)
        return {};
    const auto unit = static_cast<std::int64_t>(info.f_frsize);
    return {static_cast<std::int64_t>(info.f_blocks) * unit, static_cast<std::int64_t>(info.f_bavail) * unit,
        static_cast<std::int64_t>(info.f_files), static_cast<std::int64_t>(info.f_favail)};
}

std::int64_t usualReserve(std::int64_t total)
{
    constexpr std::int64_t most = 1LL << 30;
    constexpr std::int64_t share = 50;
    return std::min(most, total / share);
}

// Files are made faster than they are counted.
std::int64_t usualFileReserve(std::int64_t total)
{
    constexpr std::int64_t most = 2'000'000;
    constexpr std::int64_t share = 8;
    return std::min(most, total / share);
}

} // namespace

void BoxDisk::Room::seen(std::int64_t nowFree)
{
    dropped = std::exchange(free, nowFree) - nowFree;
    if (!isLow())
        usedWhenLow = -1;
}

bool BoxDisk::Room::isFilledBy(std::int64_t used, std::int64_t muchGrowth)
{
    if (!isLow())
        return false;
    if (usedWhenLow < 0)
        usedWhenLow = used;
    return used - usedWhenLow >= muchGrowth || (dropped >= reserve && used >= reserve);
}

BoxDisk::BoxDisk(
    Loop& loop, const BoxConfig& config, Background& threads, std::function<void(const char* reason)> onFull)
    : m_loop(loop), m_config(config), m_threads(threads), m_onFull(std::move(onFull))
{
    const Space space = spaceOf(config.launch.store);
    m_bytes.total = space.bytes;
    m_bytes.free = space.freeBytes;
    m_bytes.reserve = config.diskReserve > 0 ? config.diskReserve : usualReserve(space.bytes);
    m_files.total = space.files;
    m_files.free = space.freeFiles;
    m_files.reserve = config.fileReserve > 0 ? config.fileReserve : usualFileReserve(space.files);
    if (!config.storeFolder.empty())
        again(measureEveryMs);
}

BoxDisk::~BoxDisk()
{
    leave();
    m_loop.cancelTimer(m_timer);
}

void BoxDisk::again(std::int64_t milliseconds)
{
    m_timer = m_loop.after(milliseconds, [this] { look(); });
}

void BoxDisk::look()
{
    const Space now = spaceOf(m_config.launch.store);
    m_bytes.seen(now.freeBytes);
    m_files.seen(now.freeFiles);
    if (m_config.disk <= 0 && !m_bytes.isLow() && !m_files.isLow())
        return again(measureEveryMs);
    // Bytes where they matter, and files where they do; so many of them are never counted to the end.
    const std::string countFiles = m_files.isLow() ? std::to_string(m_files.total / shareOfFiles) : "";
    const std::string measureBytes = m_config.disk > 0 || m_bytes.isLow() ? "1" : "";
    const std::int64_t begin = monotonicNs();
    inBackground(
        m_threads,
        [store = m_config.launch.store, folder = m_config.storeFolder, measureBytes, countFiles,
            left = m_left] {
            return runMapped(store, {"sh", "-c", measuring, "sh", folder, measureBytes, countFiles},
                LaunchTools::besideThisProgram(), {}, {}, [left] { return left->load(); });
        },
        [this, begin, left = m_left](const Result<MappedOutcome>& said) {
            if (!left->load()) // else this object is perhaps gone, too
                measured(usedFrom(said ? said->output : std::string()), (monotonicNs() - begin) / 1'000'000);
        });
}

// Files that go while they are counted make it complain; what it counted still stands there.
BoxDisk::Used BoxDisk::usedFrom(const std::string& said)
{
    Used used;
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("bytes "))
            used.bytes = std::strtoll(line.c_str() + std::strlen("bytes "), nullptr, 10);
        else if (line.starts_with("files "))
            used.files = std::strtoll(line.c_str() + std::strlen("files "), nullptr, 10);
    }
    return used;
}

void BoxDisk::measured(const Used& used, std::int64_t tookMs)
{
    constexpr std::int64_t atMostAFifth = 5; // of the time goes into looking
    if ((m_config.disk > 0 && used.bytes > m_config.disk) || m_bytes.isFilledBy(used.bytes, muchGrowth))
        return m_onFull("disk");
    const bool hasTooMany = m_files.isLow() && used.files >= m_files.total / shareOfFiles;
    if (hasTooMany || m_files.isFilledBy(used.files, manyFiles))
        return m_onFull("files");
    again(std::max(measureEveryMs, tookMs * atMostAFifth));
}

} // namespace gb::rpc
