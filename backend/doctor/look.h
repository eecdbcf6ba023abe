// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "doctor.h"

namespace gb {

// Looking at the machine through the options, so that tests can show another one.
std::string environmentValue(const DoctorOptions& options, const std::string& name);
fs::path systemPath(const DoctorOptions& options, const std::string& path);
// The start of a small text file without its last line break; empty when it is not there.
std::string textOfFile(const fs::path& path);
// A kernel setting under /proc/sys, or `missing`.
std::string kernelSetting(
    const DoctorOptions& options, const std::string& name, const std::string& missing = {});
// Where a program is on the person's PATH; empty when it is not.
fs::path findProgram(const DoctorOptions& options, const std::string& name);

struct ProgramAnswer
{
    bool started = false;
    int status = -1; // exit status, -1 when it was killed or took too long
    std::string text; // the first 4 KiB of its standard output
};
// Runs a program without a terminal and with an environment of nothing but PATH and HOME.
ProgramAnswer askProgram(const DoctorOptions& options, const std::vector<std::string>& arguments);

} // namespace gb
