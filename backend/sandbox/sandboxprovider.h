// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>

#include <backend/base/files.h>

#include "sandboxregistry.h"

namespace gb {

// What a provider can do with a field of the form.
struct FieldCapability
{
    enum class State { Ok, Hidden, Disabled };

    State state = State::Ok;
    std::string reason;
};

struct InterpreterChoice
{
    std::string path;
    std::string version;
};

// A model that is on this machine already, under the name the spec knows it by.
struct LocalModel
{
    std::string name;
    fs::path folder; // its files, links resolved by whoever gives it
};

// The form shows, hides and bounds its fields by this.
struct SandboxCapabilities
{
    std::string id;
    std::string title;
    bool available = true;
    std::string reason; // why not, as a sentence with a way out
    std::vector<std::string> gpus;
    std::vector<std::string> network;
    std::map<std::string, FieldCapability> fields; // those that are not simply there
    std::map<std::string, std::string> limits; // how they are kept: enforced, watched, pinned
    std::vector<InterpreterChoice> interpreters;
    std::vector<std::string> pythonVersions; // of images it can make
    std::vector<LocalModel> models;

    Json toJson() const;
};

struct PlanStep
{
    std::string id; // stable between plan and start
    std::string title;
    std::string kind; // isolation, layer, start, copy, repo, model, interface
    bool reused = false;
    std::optional<std::int64_t> bytes;
    std::optional<double> seconds; // what it took the last time
    std::string page = {}; // of a model's hub, where access has to be asked for

    Json toJson() const;
};

struct SandboxPlan
{
    std::vector<PlanStep> steps;
    std::vector<SpecProblem> problems; // what speaks against it, and what is only a warning
    std::optional<double> pricePerHour;
    std::vector<std::string> hosts; // what it may reach, where its network is a list
    std::map<std::string, std::string> limits; // how those asked for are kept

    bool isPossible() const;
};

// What somebody wants, with all that a provider may know about them. The environment is the client's: where
// packages and models come from is not the daemon's to say.
struct SandboxRequest
{
    std::string id;
    std::string nonce; // goes into the tags of whatever is created
    SandboxSpec spec;
    fs::path experimentFolder; // relative local paths start here
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> secrets; // values of spec.secrets that were found
};

// Where the fetching of a model is.
struct ModelProgress
{
    std::string state; // queued, resolving, downloading, verifying, stalled, paused
    std::int64_t done = 0; // bytes
    std::optional<std::int64_t> total;
    std::optional<double> rate;
    std::optional<double> remainingSeconds;
    std::string trouble; // what it waits for
};

// How a creation tells of itself and is told to stop. Called from the thread that runs it.
class ProvisionWatch
{
public:
    virtual ~ProvisionWatch() = default;
    virtual bool isCancelled() const = 0;
    virtual void onPlan(const std::vector<PlanStep>& steps) = 0;
    virtual void onStep(const PlanStep& step, std::size_t index) = 0;
    virtual void onModel(const ModelProgress& progress) = 0; // of the step under way
    virtual void onOutput(std::string_view text) = 0;
};

struct CreatedSandbox
{
    Json handle = Json::object(); // how the provider finds it again
    std::vector<SpecProblem> warnings;
};

struct ServeOrder
{
    std::string id; // of the interface, made by the caller
    std::string run;
    fs::path interface; // the file, outside
    std::string name;
    bool watch = false;
};

struct SandboxImage
{
    std::string key;
    std::string title;
    std::vector<std::string> packages;
    std::int64_t bytes = 0;
    std::int64_t builtAt = 0;
    std::int64_t usedAt = 0;
    bool inUse = false;

    Json toJson() const;
};

struct CollectedImages
{
    std::int64_t freed = 0;
    std::vector<std::string> removed; // keys
};

// Where sandboxes come from. Commands, files and ports inside go over the keeper's control socket and are the
// same for all. Everything here blocks and may be called from any thread: the daemon runs it in Jobs. A
// provider keeps no list of its own: what exists is what list() finds by its tags, so that a creation whose
// daemon died in the middle is found again.
class SandboxProvider
{
public:
    virtual ~SandboxProvider() = default;

    virtual std::string id() const = 0;
    // Called once when the daemon has started, so that the first sandbox need not wait for what can be known.
    virtual void prepare() { }
    virtual SandboxCapabilities capabilities(const std::map<std::string, std::string>& environment) = 0;
    // What create() would do. A spec this provider can do nothing with is an error or has problems.
    virtual Result<SandboxPlan> plan(const SandboxRequest& request) = 0;
    // From nothing to a sandbox that takes commands. Whatever fails, nothing is left; what a killed daemon
    // leaves is tagged with id and nonce. A cancelled one answers "cancelled".
    virtual Result<CreatedSandbox> create(const SandboxRequest& request, ProvisionWatch& watch) = 0;
    // Good only when nothing of it runs any more, also when there was nothing; may be repeated.
    virtual Status terminate(const SandboxRecord& record) = 0;
    // Deletes what a stopped one has written.
    virtual Status remove(const SandboxRecord& record) = 0;
    virtual Result<std::vector<FoundSandbox>> list() = 0;

    // The control socket the daemon may connect to; here for a remote sandbox its end of a tunnel.
    virtual Result<fs::path> control(const SandboxRecord& record) = 0;
    // Starts a host for an interface whose worker runs inside; answers with the control socket of that host.
    virtual Result<fs::path> serve(
        const SandboxRecord& record, const ServeOrder& order, const std::function<bool()>& isCancelled) = 0;

    // `wanted` are the sandboxes whose layers are needed.
    virtual Result<std::vector<SandboxImage>> images(const std::vector<SandboxRecord>& wanted) = 0;
    virtual Result<CollectedImages> collect(const std::vector<SandboxRecord>& wanted) = 0;
};

// Models a provider may show to sandboxes, from wherever the person keeps them. Everything here blocks and
// may be called from any thread.
class ModelSource
{
public:
    virtual ~ModelSource() = default;
    struct File
    {
        std::string path; // in the model
        fs::path source; // the bytes, no link
    };
    // Nothing when it is not (wholly) on this machine.
    virtual Result<std::vector<File>> files(
        const std::string& model, const std::map<std::string, std::string>& environment) = 0;
    virtual std::vector<LocalModel> list(const std::map<std::string, std::string>& environment) = 0;

    struct Missing
    {
        // What is to come, by model: the base of an adapter comes with it. Nothing when nobody could be
        // asked.
        std::optional<std::map<std::string, std::int64_t>> bytes;
        // Why fetching it cannot succeed: field, fix and perhaps page in its data.
        std::optional<Error> obstacle;
    };
    // What fetching a model that is not here would mean. Answers within seconds.
    virtual Missing lookUp(
        const std::string& model, const std::map<std::string, std::string>& environment) = 0;
    // Brings it here, and the base model of an adapter with it. What was fetched is kept when it fails or is
    // cancelled, so that the next time goes on from there.
    virtual Status fetch(const std::string& model, const std::map<std::string, std::string>& environment,
        const std::function<void(const ModelProgress&)>& onProgress,
        const std::function<bool()>& isCancelled) = 0;
};

} // namespace gb
