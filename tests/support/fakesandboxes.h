// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <backend/base/fd.h>
#include <backend/sandbox/sandboxprovider.h>
#include <rpc/protocol/frame.h>
#include <rpc/protocol/message.h>

namespace gb::test {

// A keeper that knows its name and nothing else.
class FakeKeeper
{
public:
    FakeKeeper(const fs::path& path, std::string id, std::string nonce)
        : m_id(std::move(id)), m_nonce(std::move(nonce))
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        m_listener.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ::unlink(path.c_str());
        if (::bind(m_listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
            && ::listen(m_listener.get(), 16) == 0)
            m_thread = std::thread([this] { serve(); });
    }
    ~FakeKeeper()
    {
        m_leaving = true;
        if (m_thread.joinable())
            m_thread.join();
    }
    FakeKeeper(const FakeKeeper&) = delete;
    FakeKeeper& operator=(const FakeKeeper&) = delete;

private:
    struct Peer
    {
        UniqueFd fd;
        rpc::FrameReader reader;
    };

    void serve()
    {
        std::vector<Peer> peers;
        while (!m_leaving) {
            std::vector<pollfd> polled{{m_listener.get(), POLLIN, 0}};
            for (const Peer& peer : peers)
                polled.push_back({peer.fd.get(), POLLIN, 0});
            constexpr int lookMs = 10;
            if (::poll(polled.data(), polled.size(), lookMs) <= 0)
                continue;
            for (std::size_t i = 0; i < peers.size(); ++i) {
                if (polled[i + 1].revents != 0 && !answer(peers[i]))
                    peers[i].fd.reset();
            }
            std::erase_if(peers, [](const Peer& peer) { return !peer.fd.valid(); });
            if (polled[0].revents != 0)
                peers.push_back(Peer{UniqueFd(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC)),
                    rpc::FrameReader()});
        }
    }

    bool answer(Peer& peer) const
    {
        char buffer[4096];
        const ssize_t got = ::recv(peer.fd.get(), buffer, sizeof buffer, 0);
        if (got <= 0)
            return false;
        peer.reader.feed({buffer, static_cast<std::size_t>(got)});
        for (auto frame = peer.reader.next(); frame && *frame; frame = peer.reader.next()) {
            const auto message = rpc::decodeMessage((*frame)->json);
            if (!message)
                return false;
            const Json body = message->method == "box.hello" ? Json{{"id", m_id}, {"nonce", m_nonce}}
                                                             : Json{{"asked", message->method}};
            const std::string bytes = rpc::encodeFrame(rpc::encodeAnswer(message->id, body));
            if (::send(peer.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0)
                return false;
        }
        return true;
    }

    std::string m_id;
    std::string m_nonce;
    UniqueFd m_listener;
    std::atomic<bool> m_leaving = false;
    std::thread m_thread;
};

// What "really" exists; it outlives daemons.
class FakeWorld
{
public:
    enum class Mood { Good, Fails, Hangs, Deaf }; // Deaf: hangs and does not hear of cancel

    explicit FakeWorld(fs::path folder) : m_folder(std::move(folder)) { }

    void set(const std::string& step, Mood mood)
    {
        const std::lock_guard lock(m_mutex);
        m_moods[step] = mood;
        m_changed.notify_all();
    }
    std::set<std::string> existing() const
    {
        const std::lock_guard lock(m_mutex);
        std::set<std::string> ids;
        for (const auto& [id, keeper] : m_keepers)
            ids.insert(id);
        return ids;
    }
    int created() const { return m_created; }
    int asked(const std::string& step) const
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_asked.find(step);
        return found == m_asked.end() ? 0 : found->second;
    }
    void add(const std::string& id, const std::string& nonce)
    {
        const std::lock_guard lock(m_mutex);
        m_keepers[id] = {nonce, std::make_unique<FakeKeeper>(control(id), id, nonce)};
        ++m_created;
    }
    void remove(const std::string& id)
    {
        const std::lock_guard lock(m_mutex);
        m_keepers.erase(id);
    }
    std::vector<FoundSandbox> found() const
    {
        const std::lock_guard lock(m_mutex);
        std::vector<FoundSandbox> all;
        for (const auto& [id, one] : m_keepers)
            all.push_back({id, one.first, Json::object()});
        return all;
    }
    fs::path control(const std::string& id) const { return m_folder / (id.substr(id.size() - 12) + ".s"); }

    // What a step does, as its mood is.
    Status pass(const std::string& step, const std::function<bool()>& isCancelled)
    {
        std::unique_lock lock(m_mutex);
        ++m_asked[step];
        for (;;) {
            const Mood mood = m_moods[step];
            if (mood == Mood::Good)
                return {};
            if (mood == Mood::Fails)
                return fail("fake.failed", step + " failed");
            if (mood == Mood::Hangs && isCancelled())
                return fail("cancelled", "cancelled");
            m_changed.wait_for(lock, std::chrono::milliseconds(10));
        }
    }

private:
    fs::path m_folder;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::map<std::string, Mood> m_moods;
    std::map<std::string, int> m_asked;
    std::map<std::string, std::pair<std::string, std::unique_ptr<FakeKeeper>>> m_keepers;
    std::atomic<int> m_created = 0;
};

// Fails and hangs at every step, as its world says. It keeps its promise to leave nothing only when asked to:
// with the step "promise" failing it leaves behind what it had created.
class FakeSandboxes final : public SandboxProvider
{
public:
    static const std::vector<std::string>& steps()
    {
        static const std::vector<std::string> names{"isolation", "layer", "start", "copy", "repo"};
        return names;
    }

    explicit FakeSandboxes(std::shared_ptr<FakeWorld> world) : m_world(std::move(world)) { }

    std::string id() const override { return "local"; }
    SandboxCapabilities capabilities(const std::map<std::string, std::string>&) override
    {
        SandboxCapabilities can;
        can.id = id();
        return can;
    }
    Result<SandboxPlan> plan(const SandboxRequest&) override
    {
        SandboxPlan plan;
        for (const std::string& step : steps())
            plan.steps.push_back({step, step, step, false, {}, {}});
        return plan;
    }
    Result<CreatedSandbox> create(const SandboxRequest& request, ProvisionWatch& watch) override
    {
        const auto plan = *this->plan(request);
        watch.onPlan(plan.steps);
        for (std::size_t i = 0; i < plan.steps.size(); ++i) {
            watch.onStep(plan.steps[i], i);
            const Status passed = m_world->pass(plan.steps[i].id, [&watch] { return watch.isCancelled(); });
            if (!passed) {
                if (m_world->pass("promise", [] { return true; }))
                    m_world->remove(request.id);
                return fail(passed.error());
            }
            if (plan.steps[i].id == "start")
                m_world->add(request.id, request.nonce);
        }
        return CreatedSandbox{};
    }
    Status terminate(const SandboxRecord& record) override
    {
        GB_TRY(m_world->pass("terminate", [] { return false; }));
        m_world->remove(record.id);
        return {};
    }
    Status remove(const SandboxRecord&) override { return {}; }
    Result<std::vector<FoundSandbox>> list() override
    {
        GB_TRY(m_world->pass("list", [] { return false; }));
        auto found = m_world->found();
        GB_TRY(m_world->pass("listed", [] { return false; }));
        return found;
    }
    Result<fs::path> control(const SandboxRecord& record) override { return m_world->control(record.id); }
    Result<fs::path> serve(
        const SandboxRecord&, const ServeOrder&, const std::function<bool()>& isCancelled) override
    {
        GB_TRY(m_world->pass("serve", isCancelled));
        return fail("fake.serve", "a fake serves nothing");
    }
    Result<std::vector<SandboxImage>> images(const std::vector<SandboxRecord>&) override
    {
        return std::vector<SandboxImage>{};
    }
    Result<CollectedImages> collect(const std::vector<SandboxRecord>&) override { return CollectedImages{}; }

private:
    std::shared_ptr<FakeWorld> m_world;
};

} // namespace gb::test
