// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <backend/base/json.h>

namespace gb {

enum class ExecutionMode { None, Cli, Notebook };
enum class NetworkMode { Default, Off, AllowList, On }; // Default: off when scoped, else the package indexes
enum class MountMode { Copy, ReadOnly, Writable };

struct ModelSpec
{
    std::string name; // "org/name"
    std::string varName = "model";
    bool hidden = false;
    bool isPeft = false;
    std::string baseModel;
    bool loadAsPeft = false;
    std::string path; // a directory on this machine instead of a download

    // MODEL_<ID>_PATH: every character that is no letter or digit becomes "_".
    std::string variable() const;
    // The original's spelling (only "/" and "-" replaced); may equal variable().
    std::string originalVariable() const;
    bool operator==(const ModelSpec&) const = default;
};

struct RepoSpec
{
    std::string url; // full URL or "org/repo"
    std::string dockerfile;
    std::optional<std::string> install;

    std::string folderName() const;
    bool operator==(const RepoSpec&) const = default;
};

struct MountSpec
{
    std::string local;
    std::string inside;
    MountMode mode = MountMode::Copy;
    bool operator==(const MountSpec&) const = default;
};

struct NetworkSpec
{
    NetworkMode mode = NetworkMode::Default;
    std::vector<std::string> hosts;
    bool operator==(const NetworkSpec&) const = default;
};

// What is wrong in a spec, said so that a person can repair it: the field's path ("models[1].base_model"),
// what is the matter, and what to write instead.
struct SpecProblem
{
    enum class Severity { Error, Warning };

    std::string field;
    std::string message;
    std::string fix;
    Severity severity = Severity::Error;

    Json toJson() const;
};

// What a sandbox should be. The form, experiment.toml and the Python data class are views of this.
struct SandboxSpec
{
    std::string name;
    std::string provider = "local";
    bool scoped = false;

    std::string pythonVersion = "3.11";
    std::string interpreter; // "use my Python": an interpreter on this machine instead of an image
    std::vector<std::string> pythonPackages;
    std::vector<std::string> systemPackages;
    std::vector<std::string> notebookPackages = defaultNotebookPackages();

    std::string gpu;
    int gpuCount = 1;
    double cpu = 0; // 0: not limited
    std::int64_t memory = 0; // bytes, 0: not limited
    std::int64_t disk = 0; // bytes, 0: not limited
    std::optional<std::int64_t> timeout; // seconds; what "nobody set it" means depends on the provider
    std::optional<std::int64_t> idleTimeout;
    double spendCap = 0; // 0: none

    bool dockerInDocker = false;
    ExecutionMode executionMode = ExecutionMode::Cli;
    bool debug = false;

    std::vector<std::string> secrets;
    std::map<std::string, std::string> env;
    std::map<std::string, std::string> tags;
    NetworkSpec network;

    std::vector<int> encryptedPorts;
    std::optional<int> jupyterPort; // only a port that a person set can clash; the rest is assigned
    std::optional<int> rpcPort;
    std::optional<int> debugPort;
    std::int64_t rpcTimeout = 600;
    std::int64_t waitTimeout = 300;

    std::vector<ModelSpec> models;
    std::vector<RepoSpec> repos;
    std::vector<MountSpec> localFiles;
    std::vector<MountSpec> localDirs;

    Json unknown = Json::object(); // keys of a newer version or another tool; they survive

    static std::vector<std::string> defaultNotebookPackages();

    // A spec that is wrong anywhere is an error "spec.invalid" whose data lists every problem. Unknown keys
    // are warnings and kept.
    static Result<SandboxSpec> fromJson(const Json& json);
    // All fields, in the order of the form, with the names of the file.
    Json toJson() const;
    // Warnings included.
    std::vector<SpecProblem> problems() const;

    // A ScopedSandbox has no execution mode, whatever is written.
    ExecutionMode effectiveExecutionMode() const { return scoped ? ExecutionMode::None : executionMode; }
    bool operator==(const SandboxSpec&) const = default;
};

// One entry per key of the file, for forms, help pages and the Python data class.
struct SpecField
{
    const char* name;
    const char* type; // string, integer, number, boolean, bytes, strings, ...
};
const std::vector<SpecField>& sandboxSpecFields();

// "512 MiB", "8GB", "1.5 GiB" or a number of bytes.
Result<std::int64_t> parseBytes(std::string_view text);

} // namespace gb
