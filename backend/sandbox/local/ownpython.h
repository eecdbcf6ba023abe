// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <rpc/launch/launchspec.h>

namespace gb {

// What an interpreter of this machine says about itself.
struct InterpreterInfo
{
    std::string executable; // with links resolved
    std::string named; // as it calls itself; a wrapper script is not among them
    std::string version; // "3.11.2"
    std::vector<std::string> prefixes;
};
// By running it once, so that wrapper scripts (pyenv's, one's own) lead to what they run.
Result<InterpreterInfo> askInterpreter(const std::string& executable);

// "Use my Python": binds that make this interpreter, and what it needs of the system, visible read-only,
// never "/" itself. Own passwd, group and hosts come from the folder the caller filled with writeSmallEtc().
Result<std::vector<BindSpec>> ownPythonBinds(const InterpreterInfo& info, const fs::path& etcFolder);
// How it is called where only these are visible.
Result<std::string> pythonInside(const InterpreterInfo& info, const std::vector<BindSpec>& binds);
// That one can be used, and how to name it instead.
Status checkOwnPython(const std::string& executable);
std::vector<LinkSpec> ownPythonLinks();

// passwd, group, hosts and nsswitch.conf of a sandbox.
Status writeSmallEtc(const fs::path& folder, const std::string& hostname);

} // namespace gb
