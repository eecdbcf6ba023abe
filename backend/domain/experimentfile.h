// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "sandboxspec.h"

namespace gb {

// The [sandbox] part of experiment.toml as a spec.
Result<SandboxSpec> sandboxSpecFromToml(const std::string& text);

// The same file asking for another sandbox: only fields whose meaning differs are touched, so that "8 GiB"
// stays "8 GiB" and a comment stays where it was.
Result<std::string> withSandboxSpec(const std::string& text, const SandboxSpec& spec);

} // namespace gb
