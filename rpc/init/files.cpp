// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
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
    if (!boolOr(request, "fd")) {
        link.send(Json{{"t", "credit"}, {"ch", upload->m_channel}, {"bytes", uploadWindow}});
        return upload;
    }
    upload->m_source = link.takeFd();
    struct stat info
    { };
    if (!upload->m_source.valid() || ::fstat(upload->m_source.get(), &info) != 0 || !S_ISREG(info.st_mode))
        return fail("init.not_a_file", "what is to be copied to " + upload->m_target + " is not a file");
    upload->m_left = info.st_size;
    if (info.st_size == 0) // or a file that says so, as those of /proc do
        upload->m_way = Upload::ByHand;
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

ssize_t Upload::copyPiece(std::size_t most)
{
    if (m_way == InKernel) {
        const ssize_t copied = ::copy_file_range(m_source.get(), nullptr, m_file.get(), nullptr, most, 0);
        const bool never = copied < 0
            && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP
                || errno == EPERM);
        // Some file systems say that nothing is left although they did not look.
        if (!never && !(copied == 0 && m_bytes == 0))
            return copied;
        m_way = ThroughPages;
    }
    if (m_way == ThroughPages) {
        const ssize_t copied = ::sendfile(m_file.get(), m_source.get(), nullptr, most);
        if (copied >= 0 || (errno != EINVAL && errno != ENOSYS))
            return copied;
        m_way = ByHand;
    }
    static std::array<char, piece> buffer;
    // By position: what could not be written is read again.
    const ssize_t got = ::pread(m_source.get(), buffer.data(), buffer.size(), m_bytes);
    return got <= 0 ? got : ::write(m_file.get(), buffer.data(), static_cast<std::size_t>(got));
}

Result<bool> Upload::copySome()
{
    constexpr std::int64_t most = 4U << 20U;
    // Asking for more than is left would meet a limit of the file's size that the file itself does not.
    if (m_way != ByHand && m_left <= 0)
        return true;
    const ssize_t copied = copyPiece(static_cast<std::size_t>(std::min(m_left, most)));
    if (copied < 0 && errno == EINTR)
        return false;
    if (copied < 0)
        return failErrno("cannot write", m_target, errno);
    m_bytes += copied;
    m_left -= copied;
    return copied == 0;
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
    // Those of /proc say that they are empty.
    constexpr std::int64_t mostUnsaid = 16LL << 20;
    download->m_left = info.st_size > 0 ? std::max<std::int64_t>(info.st_size - from, 0) : mostUnsaid;
    Json answer{{"t", "info"}, {"ch", download->m_channel}};
    answer.update(describe(info));
    link.send(answer);
    return download;
}

bool Download::sendSome()
{
    std::array<char, piece> buffer; // NOLINT: filled by read
    const auto room =
        static_cast<std::size_t>(std::min({static_cast<std::int64_t>(piece), m_credit, m_left}));
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
    m_left -= got;
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
