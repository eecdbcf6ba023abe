// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>

#include <rpc/launch/launcher.h>

#include "localrecipe.h"

namespace gb {

// Ends a sandbox that uses more than it may. For machines where no cgroup can be had: resident memory is
// looked at several times a second, so a burst between two looks is possible ("watched", not "enforced").
class LimitWatch
{
public:
    LimitWatch(InitClient& init, std::int64_t memoryBytes, std::int64_t timeoutSeconds,
        std::function<void(const std::string& reason)> onBreach);
    ~LimitWatch();
    LimitWatch(const LimitWatch&) = delete;
    LimitWatch& operator=(const LimitWatch&) = delete;

private:
    void watch(std::int64_t memoryBytes, std::int64_t deadlineMs);

    InitClient& m_init;
    std::function<void(const std::string&)> m_onBreach;
    std::mutex m_mutex;
    std::condition_variable m_leave;
    bool m_leaving = false;
    std::thread m_thread;
};

// A sandbox of the local provider, from its spec to its end. Belongs to the keeper: it lives as long as the
// thread that started it.
class LocalSandbox
{
public:
    // Builds missing layers, launches, brings in files, repositories and models. Whatever fails, nothing is
    // left.
    static Result<std::unique_ptr<LocalSandbox>> start(
        const ImageStore& images, StartRequest request, const BuildProgress& progress);
    ~LocalSandbox();

    InitClient& init() const { return m_running->init(); }
    bool running() const { return m_running && m_running->running(); }
    const std::vector<SpecProblem>& warnings() const { return m_recipe.warnings; }
    // Why it ended by itself ("memory", "timeout"), or nothing.
    std::string endReason() const;

    // A command with the sandbox's environment; in a full sandbox the secrets come with it.
    ExecSpec command(std::vector<std::string> argv) const;
    ExecSpec shell(const std::string& script) const { return command({"/bin/sh", "-c", script}); }
    const std::map<std::string, std::string>& environment() const { return m_recipe.environment; }
    std::string python() const { return m_recipe.python; }

    void stop();
    // Stops and deletes what it wrote.
    Status remove();

private:
    LocalSandbox(const ImageStore& images, StartRequest request);
    Status fill(const BuildProgress& progress);
    void watchLimits();
    std::string box() const { return "boxes/" + m_request.id; }

    const ImageStore& m_images;
    StartRequest m_request;
    LocalRecipe m_recipe;
    mutable std::mutex m_mutex;
    std::string m_endReason;
    std::unique_ptr<RunningSandbox> m_running;
    std::unique_ptr<LimitWatch> m_watch;
};

} // namespace gb
