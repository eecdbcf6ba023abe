// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include <backend/base/files.h>
#include <backend/base/json.h>

namespace gb {

// An experiment is a plain folder with an experiment.toml; the id in it was made once and goes where it goes.
struct Experiment
{
    std::string id;
    std::string name;
    fs::path folder;
    bool hasInterface = false;
    bool hasTask = false;

    Json toJson() const; // {id, path, name, has_interface, has_task}
};

Result<Experiment> openExperiment(const fs::path& folder);

// Makes the folder an experiment, from an example's files if one is named. Refuses a folder that is one
// already, and to replace any file that is there. With `id` (the caller's), a repeat gives the first outcome.
Result<Experiment> newExperiment(const fs::path& folder, const std::string& id, const std::string& example);

struct ExampleInfo
{
    std::string name;
    fs::path folder;
};
std::vector<ExampleInfo> examples();

// The experiments opened lately, newest first; one file in the data folder.
class RecentExperiments
{
public:
    explicit RecentExperiments(const fs::path& dataFolder) : m_file(dataFolder / "experiments.json") { }

    Status add(const Experiment& experiment) const;
    Result<Json> list() const; // [{id, path, name, opened_at, exists}]

private:
    fs::path m_file;
};

} // namespace gb
