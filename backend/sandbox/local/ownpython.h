// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <rpc/launch/launchspec.h>

namespace gb {

// What an interpreter of this machine says about itself.
struct InterpreterInfo
{
    std::string executable; // with links resolved
    std::string version; // "3.11.2"
    std::vector<std::string> prefixes;
};
Result<InterpreterInfo> askInterpreter(const std::string& executable);

// "Use my Python": binds that make this interpreter, and what it needs of the system, visible read-only,
// never
// "/" itself. Own passwd, group and hosts come from the folder the caller filled with writeSmallEtc().
Result<std::vector<BindSpec>> ownPythonBinds(const InterpreterInfo& info, const fs::path& etcFolder);
std::vector<LinkSpec> ownPythonLinks();

// passwd, group, hosts and nsswitch.conf of a sandbox.
Status writeSmallEtc(const fs::path& folder, const std::string& hostname);

} // namespace gb
