// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "localsandbox.h"

#include <backend/base/ids.h>
#include <rpc/launch/foldercopy.h>

#include "hiddenmodels.h"
#include "localcontents.h"

namespace gb {
namespace {

// A sandbox of this very process.
class DirectInside final : public SandboxInside
{
public:
    explicit DirectInside(LocalSandbox& sandbox) : m_sandbox(sandbox) { }

    Status putFile(const fs::path& local, const std::string& inside, unsigned mode) override
    {
        return m_sandbox.init().putFile(local, inside, mode);
    }
    Status putFolder(const fs::path& folder, const std::string& inside) override
    {
        return copyFolderIn(m_sandbox.init(), folder, inside);
    }
    Result<Outcome> run(const std::string& script, const std::string& folder,
        const std::function<void(std::string_view)>& onOutput) override
    {
        ExecSpec spec = m_sandbox.shell(script);
        spec.folder = folder;
        if (onOutput)
            spec.onOutput = [&onOutput](std::string_view, std::string_view text) { onOutput(text); };
        const auto done = m_sandbox.init().run(spec);
        if (!done)
            return fail(done.error());
        return Outcome{done->code, done->errors};
    }

private:
    LocalSandbox& m_sandbox;
};

} // namespace

LocalSandbox::LocalSandbox(const ImageStore& images, StartRequest request)
    : m_images(images), m_request(std::move(request)), m_recipe(images, m_request)
{ }

LocalSandbox::~LocalSandbox()
{
    stop();
}

Result<std::unique_ptr<LocalSandbox>> LocalSandbox::start(
    const ImageStore& images, StartRequest request, const BuildProgress& progress)
{
    if (!isId(request.id))
        return fail("sandbox.id", "a sandbox needs a new id");
    GB_TRY(LocalRecipe::check(request.spec));
    GB_TRY(images.prepare());
    if (!hiddenAliases(request.spec).empty())
        return fail("sandbox.cannot_hide", "hidden models need a keeper");
    std::unique_ptr<LocalSandbox> sandbox(new LocalSandbox(images, std::move(request)));
    Status done = [&]() -> Status {
        auto launch = sandbox->m_recipe.make(progress);
        if (!launch)
            return fail(launch.error());
        auto running = launchSandbox(*launch, images.tools(), sandbox->m_request.spoolFolder);
        if (!running)
            return fail(running.error());
        sandbox->m_running = std::move(*running);
        return sandbox->fill(progress);
    }();
    if (!done) {
        (void)sandbox->remove();
        return fail(done.error());
    }
    sandbox->watchLimits();
    return sandbox;
}

Status LocalSandbox::fill(const BuildProgress& progress)
{
    DirectInside inside(*this);
    GB_TRY(copyAllIn(inside, m_request));
    for (const RepoSpec& repo : m_request.spec.repos) {
        if (const auto warning = bringRepo(inside, m_images, m_request, repo, progress); !warning)
            return fail(warning.error());
        else if (*warning)
            m_recipe.warnings.push_back(**warning);
    }
    return {};
}

ExecSpec LocalSandbox::command(std::vector<std::string> argv) const
{
    ExecSpec spec;
    spec.argv = std::move(argv);
    spec.env = m_recipe.environment;
    spec.folder = "/workspace";
    if (!m_request.spec.scoped) {
        for (const std::string& name : m_request.spec.secrets) {
            if (const auto found = m_request.secrets.find(name); found != m_request.secrets.end())
                spec.env[name] = found->second;
        }
    }
    return spec;
}

void LocalSandbox::watchLimits()
{
    const std::int64_t timeout = m_request.spec.timeout.value_or(0);
    if (m_request.spec.memory <= 0 && timeout <= 0)
        return;
    m_watch = std::make_unique<LimitWatch>(
        m_running->init(), m_request.spec.memory, timeout, [this](const std::string& reason) {
            {
                const std::lock_guard lock(m_mutex);
                m_endReason = reason;
            }
            m_running->kill();
        });
}

std::string LocalSandbox::endReason() const
{
    const std::lock_guard lock(m_mutex);
    return m_endReason;
}

void LocalSandbox::stop()
{
    m_watch.reset();
    if (m_running)
        m_running->stop();
    m_running.reset();
}

Status LocalSandbox::remove()
{
    stop();
    const auto removed = runMapped(m_images.storeFolder(),
        {"sh", "-c", "[ ! -e \"$1\" ] || { chmod -R u+rwX \"$1\"; rm -rf \"$1\"; }", "sh", box()},
        m_images.tools());
    if (!removed)
        return fail(removed.error());
    if (removed->code != 0)
        return fail("sandbox.store", "cannot remove what the sandbox wrote: " + removed->output);
    return {};
}

} // namespace gb
