// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <mutex>

#include <backend/base/fd.h>
#include <backend/base/files.h>

namespace gb {

// What one stream of a command has written so far, in a file that outlives whoever was reading. Bounded: what
// exceeds the limit is counted, not kept.
class OutputSpool
{
public:
    // Without a path the spool is memory only.
    OutputSpool(fs::path path, std::size_t limit);

    void append(std::string_view bytes);
    std::string read(std::size_t from, std::size_t count) const;
    std::size_t size() const;
    std::size_t dropped() const;

private:
    bool openLocked();

    mutable std::mutex m_mutex;
    fs::path m_path;
    std::size_t m_limit;
    std::size_t m_size = 0;
    std::size_t m_dropped = 0;
    UniqueFd m_file;
};

} // namespace gb
