// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include <backend/base/files.h>
#include <backend/base/json.h>

namespace gb {

// Arguments a person keeps for a function: presets/FUNCTION/NAME.json beside the interface file, each the
// keyword arguments as readable JSON, so that they go with the experiment into version control. The files may
// be anybody's: links are not followed, and one that cannot be used is listed with the reason.
class Presets
{
public:
    enum class Existing { Keep, Replace };

    explicit Presets(fs::path experiment) : m_experiment(std::move(experiment)) { }

    Result<Json> list(const std::string& function) const; // [{name, modified, arguments | problem}]
    Result<fs::path> save(
        const std::string& function, const std::string& name, const Json& arguments, Existing existing) const;
    Status rename(const std::string& function, const std::string& from, const std::string& to) const;
    Status remove(const std::string& function, const std::string& name) const;

private:
    // The function's folder, through real folders only.
    Result<fs::path> folder(const std::string& function) const;
    Result<fs::path> file(const std::string& function, const std::string& name) const;

    fs::path m_experiment;
};

} // namespace gb
