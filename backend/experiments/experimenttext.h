// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include <backend/base/files.h>

namespace gb {

constexpr std::size_t largestExperimentText = 4U << 20U;

// A text file of an experiment, by its name in the experiment's folder. Only what lies in that folder is
// reached: a link that leads out, "..", a name with a leading dot (.env, .git) and what is no regular file
// are refused.
struct ExperimentText
{
    fs::path path;
    std::string text;
    std::string etag; // empty: there is no such file
};

// A folder without experiment.toml is no experiment, and nothing else in it is read; experiment.toml itself
// may be missing, which is an answer with an empty etag.
Result<ExperimentText> readExperimentText(const fs::path& folder, const std::string& name);

// Replaces the file in one step if it is still what `etag` was given for (an empty etag: if there is none),
// else "experiments.changed". A file that says the same already is not an error, so that a repeat is none.
// Permissions stay, and a link within the folder stays one.
Result<ExperimentText> writeExperimentText(
    const fs::path& folder, const std::string& name, const std::string& text, const std::string& etag);

} // namespace gb
