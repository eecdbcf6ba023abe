// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

namespace gb::test {

// What lies in a folder.
inline std::set<std::string> namesIn(const std::filesystem::path& folder)
{
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        all.insert(entry.path().filename().string());
    return all;
}

// A private folder that goes away with the object.
class TemporaryFolder
{
public:
    TemporaryFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "gb-test-XXXXXX").string();
        m_path = ::mkdtemp(name.data());
    }
    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

} // namespace gb::test
