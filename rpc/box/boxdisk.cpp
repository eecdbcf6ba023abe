// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "boxdisk.h"

#include <algorithm>
#include <cstdlib>

#include <sys/statvfs.h>

#include <backend/base/clock.h>

namespace gb::rpc {
namespace {

constexpr std::int64_t measureEveryMs = 2'000;
constexpr std::int64_t muchGrowth = 64LL << 20;

struct Space
{
    std::int64_t total = 0;
    std::int64_t free = 0;
};

Space spaceOf(const fs::path& folder)
{
    struct statvfs info
    { };
    if (::statvfs(folder.c_str(), &info) != 0)
        return {};
    const auto unit = static_cast<std::int64_t>(info.f_frsize);
    return {static_cast<std::int64_t>(info.f_blocks) * unit, static_cast<std::int64_t>(info.f_bavail) * unit};
}

std::int64_t usualReserve(const Space& space)
{
    constexpr std::int64_t most = 1LL << 30;
    constexpr std::int64_t share = 50;
    return std::min(most, space.total / share);
}

} // namespace

BoxDisk::BoxDisk(Loop& loop, const BoxConfig& config, Background& threads, std::function<void()> onFull)
    : m_loop(loop), m_config(config), m_threads(threads), m_onFull(std::move(onFull))
{
    const Space space = spaceOf(config.launch.store);
    m_reserve = config.diskReserve > 0 ? config.diskReserve : usualReserve(space);
    m_free = space.free;
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
    const std::int64_t now = spaceOf(m_config.launch.store).free;
    m_dropped = std::exchange(m_free, now) - now;
    if (m_config.disk <= 0 && now >= m_reserve) {
        m_usedWhenLow = -1;
        return again(measureEveryMs);
    }
    const std::int64_t begin = monotonicNs();
    inBackground(
        m_threads,
        [store = m_config.launch.store, folder = m_config.storeFolder, left = m_left] {
            return runMapped(store, {"du", "-s", "--block-size=1", folder}, LaunchTools::besideThisProgram(),
                {}, {}, [left] { return left->load(); });
        },
        [this, begin, left = m_left](const Result<MappedOutcome>& said) {
            if (left->load())
                return; // and so is this object, perhaps
            // Files that go while they are counted make it complain; what it counted still stands there.
            const auto line = said ? said->output.rfind('\n', said->output.size() - 2) : std::string::npos;
            const std::string last =
                said ? said->output.substr(line == std::string::npos ? 0 : line + 1) : "";
            measured(std::strtoll(last.c_str(), nullptr, 10), (monotonicNs() - begin) / 1'000'000);
        });
}

void BoxDisk::measured(std::int64_t used, std::int64_t tookMs)
{
    constexpr std::int64_t atMostAFifth = 5; // of the time goes into looking
    const bool isOver = m_config.disk > 0 && used > m_config.disk;
    bool isFilling = false;
    if (m_free < m_reserve) {
        if (m_usedWhenLow < 0)
            m_usedWhenLow = used;
        isFilling = used - m_usedWhenLow >= muchGrowth || (m_dropped >= m_reserve && used >= m_reserve);
    }
    if (isOver || isFilling)
        return m_onFull();
    again(std::max(measureEveryMs, tookMs * atMostAFifth));
}

} // namespace gb::rpc
