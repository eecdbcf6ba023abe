// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "blobs.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

#include <backend/base/fd.h>
#include <backend/base/hash.h>

#include "jsontext.h"
#include "sqlite.h"

namespace gb {
namespace {

constexpr std::size_t largestBlob = 1U << 30U;

bool isDigest(std::string_view text)
{
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
}

} // namespace

Status makeDurableFolder(const fs::path& path)
{
    if (::mkdir(path.c_str(), 0700) != 0) {
        if (errno != EEXIST)
            return failStore("cannot create folder", path, errno);
        return ensurePrivateDir(path);
    }
    const UniqueFd parent(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent.valid() || ::fsync(parent.get()) != 0)
        return failStore("cannot store folder", path, errno);
    return {};
}

Status Blobs::put(const std::string& digest, std::string_view bytes) const
{
    const fs::path target = path(digest);
    std::error_code ignored;
    if (fs::file_size(target, ignored) == bytes.size())
        return {};
    GB_TRY(makeDurableFolder(target.parent_path()));
    if (Status written = writeFileAtomic(target, bytes, 0600); !written) {
        // The file layer keeps errno's number in the data; a full disk has a code of its own here.
        return failStore("cannot store", target, int(written.error().data.value("errno", EIO)));
    }
    return {};
}

Result<std::string> Blobs::get(const std::string& digest) const
{
    if (!isDigest(digest))
        return fail("blobs.unknown", "no such blob: " + std::string(cutText(digest, 64)));
    Result<std::string> bytes = readFile(path(digest), largestBlob);
    if (bytes && sha256Hex(*bytes) != digest)
        return fail("store.damaged", path(digest).string() + " does not match its name");
    return bytes;
}

std::int64_t Blobs::remove(const std::string& digest) const
{
    std::error_code error;
    const auto size = fs::file_size(path(digest), error);
    return !error && fs::remove(path(digest), error) ? std::int64_t(size) : 0;
}

} // namespace gb
