// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

// The constraints of single values, each a function that the parser and the form share. They answer what is
// wrong and how to put it right, or nothing.
namespace gb::rules {

struct Complaint
{
    std::string message;
    std::string fix;
};
using Verdict = std::optional<Complaint>;

Verdict sandboxName(std::string_view text);
Verdict provider(std::string_view text);
Verdict pythonVersion(std::string_view text);
Verdict requirement(std::string_view text);
Verdict systemPackage(std::string_view text);
Verdict variableName(std::string_view text);
Verdict secretName(std::string_view text);
Verdict gpuName(std::string_view text);
Verdict modelName(std::string_view text);
Verdict pythonIdentifier(std::string_view text);
Verdict repoUrl(std::string_view text);
Verdict insidePath(std::string_view text);
Verdict localPath(std::string_view text);
Verdict hostPattern(std::string_view text);
Verdict interpreter(std::string_view text);
Verdict plainText(std::string_view text); // no control characters, no NUL

} // namespace gb::rules
