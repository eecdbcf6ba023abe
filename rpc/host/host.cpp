// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "host.h"

#include <cstdio>
#include <utility>

#include <sys/signalfd.h>
#include <sys/stat.h>

#include <backend/base/json.h>
#include <backend/base/log.h>
#include <backend/base/paths.h>
#include <rpc/keeper/endsignals.h>

namespace gb::rpc {
namespace {

constexpr std::int64_t fileCheckMs = 250;

std::string stampOf(const fs::path& path)
{
    struct stat info
    { };
    if (::stat(path.c_str(), &info) != 0)
        return {};
    return std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + "/"
        + std::to_string(info.st_size) + "/" + std::to_string(info.st_ino);
}

} // namespace

// Prints the ready line at the first state that is not loading, or when told to; later states go to the log.
class Host::ReadyWatch : public KeeperObserver
{
public:
    explicit ReadyWatch(Host& host) : m_host(host) { host.m_keeper->observe(this); }
    ~ReadyWatch() override { m_host.m_keeper->forget(this); }

    void stateChanged() override
    {
        const Keeper& keeper = *m_host.m_keeper;
        if (keeper.state() == Keeper::State::Loading)
            return;
        print();
        Json more{{"generation", keeper.generation()}};
        if (!keeper.loadError().is_null())
            more["error"] = keeper.loadError();
        logInfo("host", keeper.stateName(), more);
    }
    void print()
    {
        if (!std::exchange(m_printed, true))
            m_host.printReady();
    }
    void callEvent(const Call&, const CallEvent&) override { }
    void recordStored(std::uint64_t seq, const CallOutcome& outcome, const Frame&) override
    {
        if (!outcome.ok())
            logInfo("host", "a call failed",
                {{"call", outcome.id}, {"fn", outcome.fn}, {"kind", outcome.errorKind()}, {"record", seq}});
    }
    void printed(const char* stream, std::string_view text) override
    {
        logInfo("worker", text.substr(0, 2000), {{"stream", stream}});
    }

private:
    Host& m_host;
    bool m_printed = false;
};

Host::Host(Loop& loop, std::unique_ptr<Keeper> keeper)
    : m_loop(loop), m_keeper(std::move(keeper)), m_router(std::make_unique<Router>(*m_keeper))
{ }

Host::~Host()
{
    std::error_code ignored;
    fs::remove(m_address.tokenFile, ignored);
}

Result<std::unique_ptr<Host>> Host::create(Loop& loop, HostConfig config)
{
    auto keeper = Keeper::create(loop, std::move(config));
    if (!keeper)
        return fail(keeper.error());
    return std::unique_ptr<Host>(new Host(loop, std::move(*keeper)));
}

Status Host::start(int lifeline)
{
    m_ready = std::make_unique<ReadyWatch>(*this);
    GB_TRY(watchSignals());
    GB_TRY(writeToken());
    GB_TRY(listen());
    m_keeper->onSandboxGone([this] { stop(); });
    GB_TRY(m_keeper->start());
    if (lifeline >= 0)
        watchLifeline(lifeline);
    else
        m_ready->print(); // the daemon shows it while it loads
    if (m_keeper->config().watch) {
        m_fileStamp = stampOf(m_keeper->config().interface);
        watchFile();
    }
    return {};
}

Status Host::writeToken()
{
    const HostConfig& config = m_keeper->config();
    const TokenPtr token = m_keeper->tokens().mint(config.caller);
    const fs::path file = config.folder() / "token";
    GB_TRY(writeFileAtomic(file, token->secret + "\n", 0600));
    m_address.tokenFile = file.string();
    if (config.compat)
        m_compatSecret = m_keeper->tokens().mint(config.caller, Token::Place::Path)->secret;
    return {};
}

Status Host::listen()
{
    auto http = HttpServer::listen(
        *m_keeper, [this](const HttpExchangePtr& exchange) { m_router->handle(exchange); });
    if (!http)
        return fail(http.error());
    m_http = std::move(*http);
    m_address.url = m_http->url();
    m_address.socket = m_keeper->config().socket.string();
    auto folder = socketFolder(m_keeper->config().dataFolder);
    if (!folder)
        return fail(folder.error());
    m_controlPath = (*folder / (m_keeper->config().id + ".ctl")).string();
    auto control = ControlServer::listen(*m_keeper, m_controlPath, m_address, [this] { stop(); });
    if (!control)
        return fail(control.error());
    m_control = std::move(*control);
    return {};
}

Status Host::watchSignals()
{
    auto signals = catchEndSignals();
    if (!signals)
        return fail(signals.error());
    m_signals = std::move(*signals);
    m_loop.watch(m_signals.get(), EPOLLIN, [this](std::uint32_t) {
        signalfd_siginfo info{};
        [[maybe_unused]] const auto ignored = ::read(m_signals.get(), &info, sizeof info);
        stop();
    });
    return {};
}

void Host::watchLifeline(int fd)
{
    m_loop.watch(fd, EPOLLIN, [this, fd](std::uint32_t) {
        char byte = 0;
        if (::read(fd, &byte, 1) == 0)
            stop();
    });
}

void Host::watchFile()
{
    m_loop.after(fileCheckMs, [this] {
        const std::string stamp = stampOf(m_keeper->config().interface);
        // An editor may replace the file in two steps; a missing file is not a change yet.
        if (!stamp.empty() && stamp != m_fileStamp) {
            m_fileStamp = stamp;
            m_keeper->reload([](const Result<Json>& outcome) {
                if (outcome)
                    logInfo("host", "the interface file was loaded again", *outcome);
                else
                    logError(
                        "host", "the changed interface file could not be loaded", outcome.error().toJson());
            });
        }
        watchFile();
    });
}

void Host::printReady()
{
    const HostConfig& config = m_keeper->config();
    Json line{{"id", config.id}, {"name", config.name}, {"run", config.run}, {"url", m_address.url},
        {"socket", m_address.socket}, {"control", m_controlPath}, {"token_file", m_address.tokenFile},
        {"pid", ::getpid()}, {"state", m_keeper->stateName()}};
    line["functions"] = m_keeper->schema() ? Json(m_keeper->schema()->names()) : Json::array();
    if (!m_compatSecret.empty())
        line["compat_url"] = m_address.url + "/compat/" + m_compatSecret + "/";
    if (!m_keeper->loadError().is_null())
        line["error"] = m_keeper->loadError();
    std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
}

void Host::stop()
{
    m_keeper->shutdown([this] {
        // One more turn, so that the last answers leave.
        m_loop.after(10, [this] { m_loop.stop(); });
    });
}

} // namespace gb::rpc
