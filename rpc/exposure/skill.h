// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "function.h"

namespace gb::rpc {

struct TextFile
{
    std::string path; // relative
    std::string text;
    unsigned mode = 0644;
};

// An Agent Skills folder: SKILL.md with the functions (beyond a few pages in reference.md) and the library in
// scripts/. `name` becomes lower case with hyphens, at most 64.
std::string skillName(const std::string& name);
std::string skillDescription(
    const std::string& name, const std::string& doc, const std::vector<Function>& functions);
std::vector<TextFile> skillFiles(
    const std::string& name, const std::string& doc, const std::vector<Function>& functions);

} // namespace gb::rpc
