// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <vector>

#include <backend/domain/sandboxspec.h>
#include <rpc/launch/launchspec.h>

namespace gb {

// What of this machine has to be visible where GPUs are used.
struct GpuShare
{
    std::vector<BindSpec> devices;
    std::vector<BindSpec> files; // of the driver: libraries and programs, read-only
    std::vector<LinkSpec> links; // names under which libraries are looked for
    std::vector<std::string> libraryFolders; // inside
    std::map<std::string, std::string> environment;
};

struct GpuDevice
{
    std::string name; // "0", or what a CDI specification calls it
    std::string model; // "NVIDIA L4", where the driver says it
    std::vector<BindSpec> nodes;
};

struct GpusHere
{
    enum class Way { None, Cdi, DeviceFiles };

    Way way = Way::None;
    std::string source; // the specification that was read
    std::vector<GpuDevice> devices; // in the driver's order
    GpuShare common; // needed with whichever of them
    std::string trouble; // why those that are there cannot be used
};

// Where to look; tests show another machine.
struct GpuPlaces
{
    fs::path root = "/";
    std::string cdiTool = "nvidia-ctk";
    std::string libraryTool = "/sbin/ldconfig";
};

// Through a CDI specification (/etc/cdi, /var/run/cdi): one in JSON as it is, one in YAML by asking the tool
// that wrote it for the same in JSON. Else the driver's device files and the libraries the linker knows.
GpusHere findGpus(const GpuPlaces& places = {});

// Those a spec gets: of its type, within CUDA_VISIBLE_DEVICES of the person's environment, the first
// gpu_count. Too few is an error that names the field.
Result<GpuShare> chooseGpus(
    const GpusHere& here, const SandboxSpec& spec, const std::map<std::string, std::string>& environment);

} // namespace gb
