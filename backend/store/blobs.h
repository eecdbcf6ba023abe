// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/files.h>

namespace gb {

// blobs/<aa>/<sha256>: written once, never changed.
class Blobs
{
public:
    explicit Blobs(fs::path folder) : m_folder(std::move(folder)) { }

    Status put(const std::string& digest, std::string_view bytes) const;
    Result<std::string> get(const std::string& digest) const; // checks the digest
    std::int64_t remove(const std::string& digest) const; // bytes freed

private:
    fs::path path(const std::string& digest) const { return m_folder / digest.substr(0, 2) / digest; }
    fs::path m_folder;
};

// Makes a folder and has its name on disk too.
Status makeDurableFolder(const fs::path& path);

} // namespace gb
