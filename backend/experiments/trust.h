// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include <backend/base/files.h>
#include <backend/domain/sandboxspec.h>

namespace gb {

// One thing outside its own folder that an experiment would reach.
struct Reach
{
    enum class What { Path, Network, Secret, Interpreter };

    What what = What::Path;
    std::string value;

    Json toJson() const;
    bool operator==(const Reach&) const = default;
};

// Sorted, each once. Paths are followed: a link in the folder that leads out of it is a reach.
std::vector<Reach> reachesOf(const SandboxSpec& spec, const fs::path& experimentFolder);

// Which experiments were made in this data folder, and what a person has allowed the others. An answer is
// bound to the list it was given for: when the list changes, it is asked again.
class TrustList
{
public:
    explicit TrustList(const fs::path& dataFolder) : m_file(dataFolder / "trust.json") { }

    Status addOwn(const std::string& experiment) const;
    // Forgotten when its folder is gone, as a demonstration's soon is.
    Status allow(
        const std::string& experiment, const fs::path& folder, const std::vector<Reach>& reaches) const;
    // An experiment that reaches nothing needs nobody's leave.
    bool isAllowed(const std::string& experiment, const std::vector<Reach>& reaches) const;

private:
    Json read() const;

    fs::path m_file;
};

} // namespace gb
