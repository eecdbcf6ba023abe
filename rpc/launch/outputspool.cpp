// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "outputspool.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/mman.h>

namespace gb {

OutputSpool::OutputSpool(fs::path path, std::size_t limit) : m_path(std::move(path)), m_limit(limit) { }

bool OutputSpool::openLocked()
{
    if (m_file.valid())
        return true;
    if (m_path.empty())
        m_file.reset(::memfd_create("glovebox-output", MFD_CLOEXEC));
    else
        m_file.reset(::open(m_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    return m_file.valid();
}

void OutputSpool::append(std::string_view bytes)
{
    const std::lock_guard lock(m_mutex);
    const std::size_t room = std::min(bytes.size(), m_limit - m_size);
    const ssize_t written =
        room > 0 && openLocked() ? ::pwrite(m_file.get(), bytes.data(), room, static_cast<off_t>(m_size)) : 0;
    const std::size_t kept = written > 0 ? static_cast<std::size_t>(written) : 0;
    m_size += kept;
    m_dropped += bytes.size() - kept;
}

std::string OutputSpool::read(std::size_t from, std::size_t count) const
{
    const std::lock_guard lock(m_mutex);
    if (from >= m_size || !m_file.valid())
        return {};
    std::string text(std::min(count, m_size - from), '\0');
    const ssize_t got = ::pread(m_file.get(), text.data(), text.size(), static_cast<off_t>(from));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

std::size_t OutputSpool::size() const
{
    const std::lock_guard lock(m_mutex);
    return m_size;
}

std::size_t OutputSpool::dropped() const
{
    const std::lock_guard lock(m_mutex);
    return m_dropped;
}

} // namespace gb
