// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <vector>

#include <backend/base/files.h>

namespace gb {

// One finding about this machine: what it means for the person, and the exact command that changes it.
struct Check
{
    enum class State { Ok, Warning, Failed };

    std::string id;
    std::string title;
    State state = State::Ok;
    std::string meaning;
    std::string fix; // empty where nothing needs to be done
    std::string detail;

    Json toJson() const;
};

struct DoctorOptions
{
    fs::path dataFolder;
    std::map<std::string, std::string> environment; // PATH, DISPLAY, HF_… of the person who asks
    fs::path root = "/"; // where /etc, /dev, /proc and /sys are looked for
    int hubTimeoutMs = 4000;
    int programTimeoutMs = 3000; // for a program to say its version
    bool askHub = true;
    std::string only = {}; // one check's id; empty: all
};

std::map<std::string, std::string> processEnvironment();

// All checks, in the order in which they are shown. Takes a few seconds at most; changes nothing.
std::vector<Check> runDoctor(const DoctorOptions& options);
Json checksJson(const std::vector<Check>& checks); // {"checks": […]}

} // namespace gb
