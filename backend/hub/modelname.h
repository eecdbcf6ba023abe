// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <backend/base/result.h>

namespace gb::hub {

// "org/name" or "name", checked as the hub itself does, and a branch, tag or commit.
struct ModelName
{
    std::string repo;
    std::string revision = "main";

    // Also takes org/name@revision and a pasted address of the model's page or of one of its files.
    static Result<ModelName> parse(std::string_view text);
};

bool isCommit(std::string_view revision); // 40 hex digits
std::string cacheFolderName(std::string_view repo); // models--org--name

// A path that stays below the folder it is put in, on any file system we write to.
Status checkPath(std::string_view path);
// No two paths that differ in case only or of which one is a folder of the other.
Status checkPaths(const std::vector<std::string>& paths);

std::string escapedPath(std::string_view path); // for an address; slashes stay

} // namespace gb::hub
