// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <backend/base/concealer.h>
#include <backend/domain/sandboxspec.h>
#include <backend/sandbox/sandboxprovider.h>

namespace gb {

// Models whose names nobody inside may learn, and what they are called there: "hidden_1" for the first of the
// spec, "hidden_1_base" for what it is an adapter of.
std::map<std::string, std::string> hiddenAliases(const SandboxSpec& spec);
Concealer concealerOf(const std::map<std::string, std::string>& aliases);

// The files of a model as a folder of this machine has them, links followed.
std::vector<ModelSource::File> filesIn(const fs::path& folder);

// Makes `folder` from the files of a model: weights as hard links (copies where the file system refuses),
// texts without the name, no descriptions or licences. `base` is where the model it builds on lies inside, or
// nothing. A file that names the model where it cannot be changed is an error.
Status makeNeutralFolder(const std::vector<ModelSource::File>& files, const Concealer& concealer,
    const std::string& base, const fs::path& folder);

} // namespace gb
