// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include <rpc/launch/launchspec.h>

namespace gb {

// What a person has set up for fetching packages, in the form a build sandbox takes it. Read by the client,
// because a daemon's environment is not the person's.
struct BuildSettings
{
    std::map<std::string, std::string> env; // UV_*, proxies, certificates
    std::vector<BindSpec> binds; // folders of packages, certificate files
    std::vector<std::string> aptOptions; // "Acquire::http::Proxy \"…\";"
    std::string uv; // the program; empty: looked for, then installed into the data folder
    // A tar of a base made elsewhere, for machines that build many; relative to the store, or where everybody
    // may read it.
    fs::path baseArchive;
};

// From an environment (PIP_*, UV_*, proxies, CA variables), the pip configuration files of that person and
// the apt configuration of the machine.
BuildSettings readBuildSettings(const std::map<std::string, std::string>& environment);
// The same without apt's, which takes a moment to ask for.
BuildSettings readPackageSettings(const std::map<std::string, std::string>& environment);

// pip's settings under the names of its command line; the environment wins over files, later files over
// earlier ones.
std::map<std::string, std::string> pipSettings(const std::map<std::string, std::string>& environment);

// pip.conf's "key = value" lines of [global] and [install], with continuation lines.
std::map<std::string, std::string> parsePipConfig(const std::string& text);

// For programs that run outside of a build: certificates under the path they have here.
std::map<std::string, std::string> environmentHere(const BuildSettings& settings);

// The folders of this machine among indexes and places of packages, separated as pip or uv does.
std::vector<std::string> localFolders(const std::string& list);

} // namespace gb
