// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace gb::init {
namespace {

constexpr std::size_t piece = 1U << 18U;
constexpr std::int64_t uploadWindow = 4U << 20U;
constexpr unsigned permissionBits = 0777;

const char* kindOf(mode_t mode)
{
    if (S_ISREG(mode))
        return "file";
    if (S_ISDIR(mode))
        return "folder";
    return S_ISLNK(mode) ? "link" : "other";
}

Json describe(const struct stat& info)
{
    constexpr std::int64_t perSecond = 1000;
    constexpr std::int64_t nsPerMs = 1000000;
    return Json{{"kind", kindOf(info.st_mode)}, {"size", info.st_size},
        {"mode", info.st_mode & permissionBits},
        {"modified", info.st_mtim.tv_sec * perSecond + info.st_mtim.tv_nsec / nsPerMs}};
}

Status checkPath(const std::string& path)
{
    if (path.empty() || path.front() != '/' || path.find('\0') != std::string::npos)
        return fail("init.path", "a path in the sandbox must be absolute");
    return {};
}

} // namespace

Status makeFolders(const std::string& path, unsigned mode)
{
    GB_TRY(checkPath(path));
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        const std::string part = path.substr(0, at);
        if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST)
            return failErrno("cannot create folder", part, errno);
        if (at == std::string::npos)
            break;
    }
    struct stat info
    { };
    if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
        return fail("init.path", path + " is not a folder");
    return {};
}

Result<std::unique_ptr<Upload>> Upload::start(const Json& request, Link& link)
{
    auto upload = std::make_unique<Upload>();
    upload->m_channel = integerOr(request, "ch");
    upload->m_link = &link;
    upload->m_target = stringOr(request, "path");
    upload->m_mode = static_cast<unsigned>(integerOr(request, "mode", 0644)) & permissionBits;
    GB_TRY(checkPath(upload->m_target));
    const std::size_t slash = upload->m_target.rfind('/');
    if (slash > 0)
        GB_TRY(makeFolders(upload->m_target.substr(0, slash), 0755));
    upload->m_temporary = upload->m_target.substr(0, slash + 1) + ".glovebox-XXXXXX";
    upload->m_file.reset(::mkostemp(upload->m_temporary.data(), O_CLOEXEC));
    if (!upload->m_file.valid()) {
        upload->m_temporary.clear();
        return failErrno("cannot write", upload->m_target, errno);
    }
    link.send(Json{{"t", "credit"}, {"ch", upload->m_channel}, {"bytes", uploadWindow}});
    return upload;
}

Upload::~Upload()
{
    if (!m_temporary.empty())
        ::unlink(m_temporary.c_str());
}

Status Upload::write(std::string_view bytes)
{
    const std::size_t whole = bytes.size();
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_file.get(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return failErrno("cannot write", m_target, errno);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    m_bytes += static_cast<std::int64_t>(whole);
    m_link->send(Json{{"t", "credit"}, {"ch", m_channel}, {"bytes", whole}});
    return {};
}

Status Upload::finish()
{
    ::fchmod(m_file.get(), m_mode);
    if (::rename(m_temporary.c_str(), m_target.c_str()) != 0)
        return failErrno("cannot move into place", m_target, errno);
    m_temporary.clear();
    m_link->send(Json{{"t", "ok"}, {"ch", m_channel}, {"bytes", m_bytes}});
    return {};
}

Result<std::unique_ptr<Download>> Download::start(const Json& request, Link& link)
{
    auto download = std::make_unique<Download>();
    const std::string path = stringOr(request, "path");
    GB_TRY(checkPath(path));
    download->m_channel = integerOr(request, "ch");
    download->m_link = &link;
    download->m_credit = integerOr(request, "credit");
    // Not blocking on a FIFO, and nothing but a file: what lies in a sandbox is not to be trusted.
    download->m_file.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat info
    { };
    if (!download->m_file.valid() || ::fstat(download->m_file.get(), &info) != 0)
        return failErrno("cannot read", path, errno);
    if (!S_ISREG(info.st_mode))
        return fail("init.not_a_file", path + " is not a file");
    const std::int64_t from = integerOr(request, "from");
    if (from < 0 || ::lseek(download->m_file.get(), from, SEEK_SET) < 0)
        return fail("init.offset", "a file is read from an offset that is not negative");
    Json answer{{"t", "info"}, {"ch", download->m_channel}};
    answer.update(describe(info));
    link.send(answer);
    return download;
}

bool Download::sendSome()
{
    std::array<char, piece> buffer; // NOLINT: filled by read
    const auto room = std::min<std::size_t>(piece, static_cast<std::size_t>(m_credit));
    const ssize_t got = ::read(m_file.get(), buffer.data(), room);
    if (got < 0) {
        m_link->answerError(m_channel, failErrno("cannot read", "the file", errno).value());
        return true;
    }
    if (got == 0) {
        m_link->send(Json{{"t", "end"}, {"ch", m_channel}});
        return true;
    }
    m_credit -= got;
    m_link->send(Json{{"t", "data"}, {"ch", m_channel}}, {buffer.data(), static_cast<std::size_t>(got)});
    return false;
}

Result<Json> statPath(const std::string& path)
{
    GB_TRY(checkPath(path));
    struct stat info
    { };
    if (::lstat(path.c_str(), &info) != 0)
        return failErrno("cannot look at", path, errno);
    return describe(info);
}

Result<Json> listFolder(const std::string& path, const std::string& after, std::size_t limit)
{
    GB_TRY(checkPath(path));
    DIR* folder = ::opendir(path.c_str());
    if (!folder)
        return failErrno("cannot list", path, errno);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string name = entry->d_name;
        if (name != "." && name != ".." && name > after)
            names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    Json entries = Json::array();
    for (const std::string& name : names) {
        if (entries.size() >= limit)
            break;
        struct stat info
        { };
        if (::fstatat(::dirfd(folder), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        Json entry{{"name", name}};
        entry.update(describe(info));
        if (S_ISLNK(info.st_mode)) {
            std::array<char, 4096> target{};
            const ssize_t size = ::readlinkat(::dirfd(folder), name.c_str(), target.data(), target.size());
            entry["target"] = std::string(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
        }
        entries.push_back(std::move(entry));
    }
    ::closedir(folder);
    const bool more = names.size() > entries.size();
    return Json{{"entries", std::move(entries)}, {"more", more}};
}

} // namespace gb::init
