// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "sandboxcopy.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <backend/base/fd.h>
#include <backend/base/files.h>
#include <backend/base/ids.h>
#include <backend/base/sparsefile.h>

#include "command.h"
#include "session.h"

namespace gb::cli {
namespace {

constexpr std::size_t pieceSize = 1U << 20U;

struct Place
{
    std::string sandbox; // empty: this machine
    std::string path;
};

// NAME:PATH, unless a slash comes before the colon: "./a:b" is a file of this machine.
Place placeFrom(const std::string& word)
{
    const auto colon = word.find(':');
    if (colon == std::string::npos || colon == 0 || word.find('/') < colon)
        return {{}, word};
    return {word.substr(0, colon), word.substr(colon + 1)};
}

std::string joined(const std::string& folder, const std::string& name)
{
    return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

// A name that came out of a sandbox may become a name on this machine.
bool isPlainName(const std::string& name)
{
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos
        && name.find('\0') == std::string::npos;
}

class Copy
{
public:
    Copy(Session& session, std::string sandbox, Console& console)
        : m_session(session), m_sandbox(std::move(sandbox)), m_console(console)
    { }

    // Into an existing folder, or as `target` itself.
    Status up(const fs::path& source, std::string target)
    {
        std::error_code error;
        const fs::path from = fs::canonical(source, error);
        if (error)
            return failErrno("cannot read", source.string(), error.value());
        if (target.empty())
            target = "/workspace";
        const auto there = kindOf(target);
        if (target.ends_with('/') || there == "folder")
            target = joined(target, from.filename().string());
        return fs::is_directory(from) ? folderUp(from, target) : fileUp(from, target);
    }

    Status down(std::string source, fs::path target)
    {
        while (source.size() > 1 && source.ends_with('/'))
            source.pop_back();
        const std::string name = source.substr(source.rfind('/') + 1);
        std::error_code error;
        if (fs::is_directory(target, error)) {
            if (!isPlainName(name))
                return fail("usage", "\"" + source + "\" has no name to take; name the target");
            target /= name;
        }
        const auto stat = ask("sandboxes.stat", source);
        if (!stat)
            return fail(stat.error());
        return isFolder(*stat) ? folderDown(source, target)
                               : fileDown(source, target, integerOr(*stat, "mode", 0644));
    }

    Json outcome() const { return Json{{"files", m_files}, {"bytes", m_bytes}, {"left_out", m_leftOut}}; }
    std::int64_t files() const { return m_files; }
    std::int64_t bytesCopied() const { return m_bytes; }

private:
    static bool isFolder(const Json& entry) { return stringOr(entry, "kind") == "folder"; }

    Result<Json> ask(const char* method, const std::string& path, Json params = Json::object())
    {
        params["sandbox"] = m_sandbox;
        params["path"] = path;
        auto answer = m_session.call(method, std::move(params));
        return answer ? Result<Json>(std::move(answer->body)) : fail(answer.error());
    }

    std::string kindOf(const std::string& path)
    {
        const auto stat = ask("sandboxes.stat", path);
        return stat ? stringOr(*stat, "kind") : std::string();
    }

    void leaveOut(const std::string& path, const char* why)
    {
        m_leftOut.push_back(path);
        m_console.note("left out: " + printable(path) + " (" + why + ")");
    }

    Status folderUp(const fs::path& source, const std::string& target)
    {
        const auto made = ask("sandboxes.mkdir", target);
        if (!made)
            return fail(made.error());
        std::error_code error;
        for (fs::directory_iterator it(source, error), end; !error && it != end; it.increment(error)) {
            const fs::path path = it->path();
            const std::string inside = joined(target, path.filename().string());
            std::error_code ignored;
            if (it->is_symlink(ignored))
                leaveOut(path.string(), "a link");
            else if (it->is_directory(ignored))
                GB_TRY(folderUp(path, inside));
            else if (it->is_regular_file(ignored))
                GB_TRY(fileUp(path, inside));
            else
                leaveOut(path.string(), "no file and no folder");
        }
        return error ? Status(failErrno("cannot read", source.string(), error.value())) : Status();
    }

    Status fileUp(const fs::path& source, const std::string& target)
    {
        const UniqueFd fd(::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        struct stat info
        { };
        if (!fd.valid() || ::fstat(fd.get(), &info) != 0)
            return failErrno("cannot read", source.string(), errno);
        if (!S_ISREG(info.st_mode))
            return fail("sandbox.copy", source.string() + " is no file and no folder");
        Json params{
            {"sandbox", m_sandbox}, {"path", target}, {"mode", info.st_mode & 0777U}, {"transfer", newId()}};
        std::string piece;
        std::int64_t offset = 0;
        for (bool isLast = false; !isLast;) {
            piece.resize(pieceSize);
            const ssize_t count = ::pread(fd.get(), piece.data(), piece.size(), offset);
            if (count < 0)
                return failErrno("cannot read", source.string(), errno);
            piece.resize(static_cast<std::size_t>(count));
            // A file that shrinks meanwhile ends where it ends now.
            isLast = piece.size() < pieceSize || offset + count == info.st_size;
            params["offset"] = offset;
            params["final"] = isLast;
            const auto put = m_session.call("sandboxes.put", params, piece);
            if (!put)
                return fail(put.error());
            offset += count;
        }
        ++m_files;
        m_bytes += offset;
        return {};
    }

    Status folderDown(const std::string& source, const fs::path& target)
    {
        std::error_code error;
        fs::create_directories(target, error);
        if (error)
            return failErrno("cannot make", target.string(), error.value());
        std::string after;
        for (bool hasMore = true; hasMore;) {
            const auto page =
                ask("sandboxes.list_files", source, after.empty() ? Json::object() : Json{{"after", after}});
            if (!page)
                return fail(page.error());
            hasMore = boolOr(*page, "more");
            for (const Json& entry : page->value("entries", Json::array())) {
                after = stringOr(entry, "name");
                GB_TRY(entryDown(entry, source, target));
            }
        }
        return {};
    }

    // Links are not followed and not made: where one from inside leads is not this machine's affair.
    Status entryDown(const Json& entry, const std::string& source, const fs::path& target)
    {
        const std::string name = stringOr(entry, "name");
        const std::string path = joined(source, name);
        const std::string kind = stringOr(entry, "kind");
        if (!isPlainName(name))
            leaveOut(path, "not a usable name");
        else if (kind == "folder")
            return folderDown(path, target / name);
        else if (kind == "file")
            return fileDown(path, target / name, integerOr(entry, "mode", 0644));
        else
            leaveOut(path, "no file and no folder");
        return {};
    }

    // Under its name only when it is whole; an existing file is replaced, a link there is not written
    // through.
    Status fileDown(const std::string& source, const fs::path& target, std::int64_t mode)
    {
        // Not after the file's own name, which may be as long as a name can be.
        const fs::path part = target.parent_path() / (".glovebox-" + newId() + ".part");
        const Status fetched = fetchInto(source, part, static_cast<mode_t>(mode & 0777) | 0600U);
        if (!fetched || ::rename(part.c_str(), target.c_str()) != 0) {
            const int reason = errno;
            ::unlink(part.c_str());
            return fetched ? Status(failErrno("cannot write", target.string(), reason)) : fetched;
        }
        ++m_files;
        return {};
    }

    Status fetchInto(const std::string& source, const fs::path& part, mode_t mode)
    {
        const UniqueFd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
        if (!fd.valid())
            return failErrno("cannot write", part.string(), errno);
        std::int64_t offset = 0;
        std::int64_t whole = -1; // as long as it is now: one that grows all the time has an end as well
        for (;;) {
            const auto answer = m_session.call("sandboxes.read",
                Json{{"sandbox", m_sandbox}, {"path", source}, {"offset", offset}, {"limit", pieceSize}});
            if (!answer)
                return fail(answer.error());
            if (whole < 0)
                whole = integerOr(answer->body, "size");
            const std::string& bytes = answer->attachment;
            GB_TRY(writeKeepingHoles(fd.get(), bytes, offset));
            offset += static_cast<std::int64_t>(bytes.size());
            if (bytes.empty() || offset >= whole)
                break;
        }
        if (::ftruncate(fd.get(), offset) != 0)
            return failErrno("cannot write", part.string(), errno);
        m_bytes += offset;
        return {};
    }

    Session& m_session;
    std::string m_sandbox;
    Console& m_console;
    std::int64_t m_files = 0;
    std::int64_t m_bytes = 0;
    Json m_leftOut = Json::array();
};

} // namespace

int copyWithSandbox(const Arguments& arguments, Console& console)
{
    if (arguments.positional().size() != 2)
        return console.fail(Error{"usage", "give what and where to: one of them as NAME:PATH"});
    const Place source = placeFrom(arguments.positional()[0]);
    const Place target = placeFrom(arguments.positional()[1]);
    if (source.sandbox.empty() == target.sandbox.empty())
        return console.fail(Error{"usage", "one of both is in a sandbox: NAME:PATH"});
    Session session;
    Copy copy(session, source.sandbox + target.sandbox, console);
    const Status done =
        source.sandbox.empty() ? copy.up(source.path, target.path) : copy.down(source.path, target.path);
    if (!done)
        return console.fail(done.error());
    if (console.json())
        console.print(copy.outcome());
    else
        console.note(std::to_string(copy.files()) + " files, " + bytes(copy.bytesCopied()));
    return Done;
}

} // namespace gb::cli
