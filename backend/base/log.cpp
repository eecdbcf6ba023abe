// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "log.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>

#include "clock.h"
#include "fd.h"

namespace gb {
namespace {

struct Sink
{
    std::mutex mutex;
    UniqueFd file;
    fs::path path;
    std::size_t written = 0;
    std::atomic<bool> quiet = false;
};

Sink& sink()
{
    static Sink instance;
    return instance;
}

Status openSink(Sink& s)
{
    s.file.reset(::open(s.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!s.file.valid())
        return failErrno("cannot open log", s.path.string(), errno);
    struct stat info
    { };
    s.written = ::fstat(s.file.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
    return {};
}

void writeEntry(const char* level, std::string_view room, std::string_view text, const Json& fields)
{
    Json entry{{"at", isoUtc(wallMs())}, {"level", level}, {"room", room}, {"text", text}};
    if (fields.is_object()) {
        for (const auto& [key, value] : fields.items())
            entry[key] = value;
    }
    const std::string line = entry.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";

    Sink& s = sink();
    const std::lock_guard lock(s.mutex);
    constexpr std::size_t rotateAt = 8U << 20U;
    if (s.file.valid() && s.written + line.size() > rotateAt) {
        ::rename(s.path.c_str(), (s.path.string() + ".1").c_str());
        if (!openSink(s))
            s.file.reset();
    }
    const int fd = s.file.valid() ? s.file.get() : STDERR_FILENO;
    if (::write(fd, line.data(), line.size()) > 0)
        s.written += line.size();
}

} // namespace

void logInfo(std::string_view room, std::string_view text, const Json& fields)
{
    if (!sink().quiet)
        writeEntry("info", room, text, fields);
}

void logWarning(std::string_view room, std::string_view text, const Json& fields)
{
    writeEntry("warning", room, text, fields);
}

void logError(std::string_view room, std::string_view text, const Json& fields)
{
    writeEntry("error", room, text, fields);
}

Status logToFile(const fs::path& path)
{
    Sink& s = sink();
    const std::lock_guard lock(s.mutex);
    s.path = path;
    return openSink(s);
}

void logQuiet(bool quiet)
{
    sink().quiet = quiet;
}

} // namespace gb
