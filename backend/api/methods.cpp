// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "methods.h"

#include <algorithm>
#include <array>

namespace gb::api {
namespace {

constexpr bool op = true;
constexpr bool job = true;

// Sorted by name.
constexpr std::array table = {
    Method{"calls.annotate", op, {}, "call: string, pin?: boolean, comment?: string",
        "Pins a call's whole result or writes a comment on it"},
    Method{"calls.cancel", op, {}, "call: string, force?: boolean", "Cancels a running call"},
    Method{"calls.get", {}, {}, "call: string", "The record of a call, its result text as attachment"},
    Method{"calls.list", {}, {},
        "filter?: string, before?: string, limit?: integer, interface?: string, run?: string",
        "Summaries of calls, newest first"},
    Method{"calls.run", op, {},
        "interface: string, fn: string, args?: array, kwargs?: object, timeout_ms?: integer, pin?: boolean",
        "Calls a function; the record, its result text as attachment"},
    Method{"calls.tensor", {}, {},
        "call?: string, interface: string, handle: string, what: string, slice?: string, tile?: object",
        "Statistics, a slice or a tile of a tensor the interface holds"},
    Method{"daemon.hello", {}, {}, "protocol: integer, client: object, build?: string, environment?: object",
        "The first request"},
    Method{"daemon.logs", {}, {}, "offset?: integer, limit?: integer", "A piece of the daemon's log"},
    Method{"daemon.methods", {}, {}, "", "This table"},
    Method{"daemon.status", {}, {}, "", "What the daemon is, has and keeps alive"},
    Method{"daemon.stop", op, {}, "force?: boolean", "Ends the daemon unless something is alive"},
    Method{"diagnostics.get", {}, {}, "", "A redacted text for a bug report"},
    Method{"doctor.run", {}, job, "", "Checks of this machine"},
    Method{"events.append", op, {}, "stream: string, events: array", "Appends durable events"},
    Method{"events.read", {}, {}, "stream: string, since: integer, limit?: integer",
        "Events from a sequence number on"},
    Method{"events.subscribe", {}, {}, "stream: string, since: integer",
        "Stored and then live events as events.batch"},
    Method{"events.unsubscribe", {}, {}, "stream: string", "Ends events.batch of a stream"},
    Method{"experiments.list", {}, {}, "", "Experiments opened lately"},
    Method{"experiments.new", op, {}, "path: string, example?: string", "Makes a folder an experiment"},
    Method{"experiments.open", op, {}, "path: string", "Opens the experiment in a folder"},
    Method{"experiments.read", {}, {}, "experiment: string, name?: string",
        "A text file of an experiment; from then on its changes are in the topic experiments"},
    Method{"experiments.write", op, {}, "experiment: string, name?: string, text: string, etag: string",
        "Replaces a text file of an experiment"},
    Method{"interfaces.check", {}, {}, "text: string",
        "What would go wrong in an interface file, without running it"},
    Method{"interfaces.expose", {}, {},
        "interface: string, form: string, name?: string, functions?: array, caller?: string, max_calls?: "
        "integer, "
        "calls_per_minute?: integer, preview?: boolean",
        "An interface as library, MCP configuration, prompt or skill, with a token of its own"},
    Method{"interfaces.list", {}, {}, "", "Interfaces that are served"},
    Method{"interfaces.register", op, {}, "control: string",
        "Makes the interface behind a keeper's control socket known"},
    Method{"interfaces.reload", op, {}, "interface: string", "Loads the interface file again"},
    Method{"interfaces.save", op, {}, "interface: string, text: string, etag: string",
        "Replaces the interface file's text and loads it"},
    Method{"interfaces.schema", {}, {}, "interface: string", "The functions of an interface"},
    Method{"interfaces.source", {}, {}, "interface: string", "The interface file's text"},
    Method{"interfaces.stop", op, {}, "interface: string", "Stops serving an interface"},
    Method{"jobs.cancel", op, {}, "job: string", "Asks a job to end early"},
    Method{"jobs.get", {}, {}, "job: string", "A job with its outcome"},
    Method{"jobs.list", {}, {}, "", "Running jobs and those of the last 24 hours"},
    Method{"models.forget", op, {}, "download: string", "Stops a download and takes it off the list"},
    Method{"models.get", op, {}, "model: string, include?: array, exclude?: array, priority?: integer",
        "Fetches a model into the cache; the download is in the topic models"},
    Method{"models.ls", {}, {}, "", "What is in the cache of models"},
    Method{"models.pause", op, {}, "download?: string", "Pauses one download or all"},
    Method{"models.prioritise", op, {}, "download: string, priority: integer",
        "Higher priorities are downloaded first"},
    Method{"models.resume", op, {}, "download?: string",
        "Resumes one paused download or all; looks again whether access was granted"},
    Method{"models.rm", op, {}, "model: string, all?: boolean, loose?: boolean, force?: boolean",
        "Deletes a revision of a model, all of them, or only unfinished and unused files"},
    Method{"models.show", {}, {}, "model: string",
        "Files, configuration and tensors of a model, also before it is fetched"},
    Method{"models.verify", {}, job, "model: string, repair?: boolean",
        "Compares every file of a model with its hash"},
    Method{"presets.list", {}, {}, "interface: string, fn: string", "Arguments kept for a function"},
    Method{"presets.rename", op, {}, "interface: string, fn: string, name: string, to: string",
        "Gives a preset another name"},
    Method{"presets.rm", op, {}, "interface: string, fn: string, name: string", "Deletes a preset"},
    Method{"presets.save", op, {},
        "interface: string, fn: string, name: string, arguments: object, replace?: boolean",
        "Keeps arguments of a function as a file beside the interface's"},
    Method{"runs.get", {}, {}, "run: string", "One run"},
    Method{"runs.list", {}, {}, "limit?: integer", "Runs, newest first"},
    Method{"sandboxes.capabilities", {}, {}, "", "What each provider can do, for the form"},
    Method{"sandboxes.collect", op, {}, "", "Deletes layers no sandbox needs"},
    Method{"sandboxes.commands", {}, {}, "sandbox: string", "Commands of a sandbox, running and ended"},
    Method{"sandboxes.exec", op, {},
        "sandbox: string, argv?: array, script?: string, env?: object, cwd?: string, timeout_ms?: integer, "
        "stdin?: boolean, terminal?: object, output_limit?: integer",
        "Runs a command; its output follows as sandboxes.output and sandboxes.exit"},
    Method{"sandboxes.extend", op, {}, "sandbox: string, seconds: integer", "Moves a sandbox's end"},
    Method{"sandboxes.get", {}, {}, "sandbox: string", "A sandbox with its spec, steps and warnings"},
    Method{"sandboxes.images", {}, {}, "", "Layers that are built, with sizes"},
    Method{"sandboxes.list", {}, {}, "", "Sandboxes, newest first"},
    Method{"sandboxes.list_files", {}, {}, "sandbox: string, path: string, after?: string",
        "A folder in a sandbox"},
    Method{"sandboxes.log", {}, {}, "sandbox: string, offset?: integer, limit?: integer",
        "A piece of the log of a start"},
    Method{"sandboxes.meters", {}, {}, "sandbox: string", "Processor time, memory and disk of a sandbox"},
    Method{"sandboxes.mkdir", op, {}, "sandbox: string, path: string", "Makes a folder in a sandbox"},
    Method{"sandboxes.output", {}, {},
        "sandbox: string, command: string, stream: string, offset?: integer, limit?: integer",
        "What a command has written, from the spool"},
    Method{"sandboxes.plan", {}, {}, "spec: object, experiment?: string",
        "What a start would do, reuse and reach, before it does it"},
    Method{"sandboxes.port", op, {}, "sandbox: string, port?: integer, path?: string, tcp?: boolean",
        "Opens a port or socket of a sandbox on this machine"},
    Method{"sandboxes.port_close", op, {}, "sandbox: string, id: string", "Closes an opened port"},
    Method{"sandboxes.ports", {}, {}, "sandbox: string", "Opened ports of a sandbox"},
    Method{"sandboxes.put", {}, {},
        "sandbox: string, path: string, mode?: integer, transfer: string, offset: integer, final: boolean",
        "A piece of a file for a sandbox, as attachment; repeating a piece changes nothing"},
    Method{"sandboxes.read", {}, {}, "sandbox: string, path: string, offset?: integer, limit?: integer",
        "A piece of a file in a sandbox, as attachment"},
    Method{"sandboxes.resize", op, {}, "sandbox: string, command: string, rows: integer, columns: integer",
        "Tells a command's terminal its size"},
    Method{"sandboxes.rm", op, {}, "sandbox: string", "Deletes the files of a stopped sandbox"},
    Method{"sandboxes.serve", op, {},
        "sandbox: string, interface: string, name?: string, watch?: boolean, wait?: boolean",
        "Serves an interface file with its worker inside a sandbox"},
    Method{"sandboxes.signal", op, {}, "sandbox: string, command: string, signal: integer",
        "Sends a signal to everything a command started"},
    Method{"sandboxes.start", op, job, "spec: object, experiment?: string, trust?: boolean, secrets?: object",
        "Makes a sandbox; its id comes at once"},
    Method{"sandboxes.stat", {}, {}, "sandbox: string, path: string", "A file or folder in a sandbox"},
    Method{"sandboxes.stdin", {}, {}, "sandbox: string, command: string, eof?: boolean",
        "Input for a command, as attachment; answered when it is taken"},
    Method{"sandboxes.stop", op, job, "sandbox: string", "Ends a sandbox; done when nothing of it runs"},
    Method{"sandboxes.wait", {}, {}, "sandbox: string, command: string, timeout_ms?: integer",
        "Waits for a command's end"},
    Method{"secrets.clear", op, {}, "name: string", "Forgets a secret"},
    Method{"secrets.list", {}, {}, "", "Which secrets are set and where they lie, without their values"},
    Method{"secrets.set", op, {}, "name: string, value: string", "Keeps a secret; nothing reads it back"},
    Method{"settings.get", {}, {}, "key: string", "One setting"},
    Method{"settings.list", {}, {}, "", "All settings"},
    Method{"settings.set", op, {}, "key: string, value: any", "Changes a setting; null restores its default"},
    Method{"state.subscribe", {}, {}, "topics: array", "Snapshots, then changes as state.delta"},
};
static_assert(std::ranges::is_sorted(table, {}, &Method::name));

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

} // namespace

std::span<const Method> methods()
{
    return table;
}

const Method* findMethod(std::string_view name)
{
    const auto it = std::ranges::lower_bound(table, name, {}, &Method::name);
    return it != table.end() && it->name == name ? it : nullptr;
}

Json toJson(const Method& method)
{
    Json params = Json::array();
    for (std::string_view rest = method.params; !rest.empty();) {
        const auto comma = rest.find(',');
        const std::string_view one = trimmed(rest.substr(0, comma));
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        const auto colon = one.find(':');
        const bool optional = one[colon - 1] == '?';
        params.push_back(Json{{"name", one.substr(0, colon - (optional ? 1 : 0))},
            {"type", trimmed(one.substr(colon + 1))}, {"required", !optional}});
    }
    return Json{{"name", method.name}, {"op", method.op}, {"job", method.job}, {"params", std::move(params)},
        {"summary", method.summary}};
}

} // namespace gb::api
