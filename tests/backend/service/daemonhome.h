// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <csignal>
#include <memory>

#include <QTest>

#include <backend/api/client.h>
#include <backend/api/daemonstart.h>
#include <backend/base/clock.h>
#include <backend/base/fd.h>
#include <backend/base/paths.h>
#include <tests/support/temporary.h>

namespace gb::test {

inline constexpr int patience = 30'000; // ms; only ever reached when something is wrong

// A data folder of its own and real daemons on it, which are gone with it.
class DaemonHome
{
public:
    DaemonHome() { qputenv("GLOVEBOX_IDLE_EXIT_MS", "60000"); }
    ~DaemonHome()
    {
        for (const int pid : daemons())
            ::kill(pid, SIGKILL);
        std::error_code ignored;
        if (const auto sockets = socketFolder(path()))
            fs::remove_all(*sockets, ignored);
    }

    fs::path path() const { return m_folder.path() / "data"; }
    const fs::path& folder() const { return m_folder.path(); }

    std::unique_ptr<api::Client> client(const std::string& name = "test", bool start = true) const
    {
        api::Client::Options options;
        options.dataFolder = path();
        options.name = name;
        options.startDaemon = start;
        return std::make_unique<api::Client>(options);
    }

    // Processes that were started for this data folder and still run.
    std::vector<int> daemons() const
    {
        std::vector<int> pids;
        std::error_code error;
        for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
            const int pid = std::atoi(it->path().filename().c_str());
            const auto line = pid > 0 ? readFile(it->path() / "cmdline") : Result<std::string>(std::string());
            if (line && line->find("gloveboxd") != std::string::npos
                && line->find(path().string()) != std::string::npos)
                pids.push_back(pid);
        }
        return pids;
    }

private:
    TemporaryFolder m_folder;
};

// One request, waited for.
inline Result<api::Answer> ask(
    api::Client& client, std::string method, Json params = Json::object(), std::string attachment = {})
{
    std::optional<Result<api::Answer>> got;
    client.open();
    client.call(
        &client, std::move(method), std::move(params),
        [&](Result<api::Answer> answer) { got = std::move(answer); }, std::move(attachment));
    if (!QTest::qWaitFor([&] { return got.has_value(); }, patience))
        return fail("test.timeout", "no answer");
    return *got;
}

inline std::string codeOf(const Result<api::Answer>& answer)
{
    return answer ? "ok" : answer.error().code;
}

inline Json events(int count, const std::string& type = "test", int start = 0)
{
    Json all = Json::array();
    for (int i = 0; i < count; ++i)
        all.push_back(Json{{"type", type}, {"data", start + i}});
    return all;
}

} // namespace gb::test
