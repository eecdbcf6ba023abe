// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <backend/base/fd.h>
#include <backend/base/json.h>
#include <backend/doctor/doctor.h>
#include <tests/support/temporary.h>

using namespace gb;
using namespace gb::test;
using State = Check::State;

namespace {

void write(const fs::path& path, const std::string& text, unsigned mode = 0600)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
}

// A hub that answers one request with one status.
class OneAnswerHub
{
public:
    explicit OneAnswerHub(std::string status) : m_listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        ::bind(m_listener.get(), reinterpret_cast<sockaddr*>(&address), size);
        ::listen(m_listener.get(), 1);
        ::getsockname(m_listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
        m_port = ntohs(address.sin_port);
        m_thread = std::thread([this, status = std::move(status)] {
            const UniqueFd client(::accept(m_listener.get(), nullptr, nullptr));
            char request[2048];
            const ssize_t count = ::read(client.get(), request, sizeof request);
            m_request.assign(request, count > 0 ? std::size_t(count) : 0);
            const std::string answer =
                "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            if (::write(client.get(), answer.data(), answer.size()) < 0)
                m_request.clear();
        });
    }
    ~OneAnswerHub()
    {
        ::shutdown(m_listener.get(), SHUT_RDWR);
        if (m_thread.joinable())
            m_thread.join();
    }
    std::string address() const { return "127.0.0.1:" + std::to_string(m_port); }
    std::string request()
    {
        m_thread.join();
        return m_request;
    }

private:
    UniqueFd m_listener;
    int m_port = 0;
    std::string m_request;
    std::thread m_thread;
};

} // namespace

class TestDoctor : public QObject
{
    Q_OBJECT

    // Another machine: nothing but what a test puts there.
    TemporaryFolder m_machine;

    DoctorOptions elsewhere()
    {
        DoctorOptions options;
        options.dataFolder = m_machine.path() / "data";
        options.root = m_machine.path();
        options.environment = {{"PATH", (m_machine.path() / "bin").string()},
            {"HOME", (m_machine.path() / "home").string()}, {"HF_HUB_OFFLINE", "1"}};
        return options;
    }

    static Check find(DoctorOptions options, const std::string& id)
    {
        options.only = id;
        const std::vector<Check> found = runDoctor(options);
        return found.size() == 1 && found[0].id == id ? found[0] : Check{"missing", {}, {}, {}, {}, {}};
    }

    static Json hub(const std::string& endpoint, int timeoutMs = 2000)
    {
        DoctorOptions options;
        options.dataFolder = fs::temp_directory_path();
        options.environment = {{"HF_ENDPOINT", endpoint}, {"no_proxy", "*"}};
        options.hubTimeoutMs = timeoutMs;
        return find(options, "hub").toJson();
    }

private Q_SLOTS:
    void everyFindingIsComplete()
    {
        DoctorOptions here;
        here.dataFolder = fs::temp_directory_path();
        here.environment = processEnvironment();
        here.askHub = false;
        for (const DoctorOptions& options : {here, elsewhere()}) {
            std::set<std::string> ids;
            for (const Check& check : runDoctor(options)) {
                QVERIFY2(ids.insert(check.id).second, check.id.c_str());
                QVERIFY2(!check.title.empty() && !check.meaning.empty() && !check.detail.empty(),
                    check.id.c_str());
                QVERIFY2(check.state == State::Ok || !check.fix.empty(), check.id.c_str());
                QVERIFY(parseJson(check.toJson().dump()).has_value());
            }
            for (const char* id : {"display", "webengine", "user_namespaces", "subordinate_ids", "overlay",
                     "cgroups", "keyring", "gpu", "disk", "hub", "token", "agents", "pythons", "ports",
                     "bubblewrap", "distribution"})
                QVERIFY2(ids.count(id) == 1, id);
        }
        const Json all = checksJson(runDoctor(elsewhere()));
        QCOMPARE(all["checks"][0]["id"].get<std::string>(), std::string("display"));
        QCOMPARE(all["checks"][0]["state"].get<std::string>(), std::string("warning"));
    }

    void nothingIsLeftInTheDataFolder()
    {
        const TemporaryFolder folder;
        DoctorOptions options = elsewhere();
        options.dataFolder = folder.path();
        runDoctor(options);
        QVERIFY(fs::is_empty(folder.path()));
    }

    void seesWhatIsThere()
    {
        DoctorOptions options = elsewhere();
        QCOMPARE(find(options, "bubblewrap").state, State::Failed);
        QCOMPARE(find(options, "bubblewrap").fix, std::string("sudo apt install bubblewrap"));
        QCOMPARE(find(options, "pythons").state, State::Failed);
        QCOMPARE(find(options, "agents").state, State::Warning);
        QCOMPARE(find(options, "webengine").state, State::Warning);

        const fs::path bin = m_machine.path() / "bin";
        write(bin / "bwrap", "#!/bin/sh\necho bubblewrap 0.8.0\n", 0700);
        const std::string real = (bin / "python3").string();
        write(bin / "python3", "#!/bin/sh\necho 3.11.2\necho " + real + "\n", 0700);
        // A version manager's, which leads to the same one, and one that leads elsewhere.
        write(bin / "python3.11", "#!/bin/sh\necho 3.11.2\necho " + real + "\n", 0700);
        write(bin / "python3.13", "#!/bin/sh\necho 3.13.1\necho /versions/3.13/bin/python3.13\n", 0700);
        write(bin / "python3.12", "#!/bin/sh\nexit 3\n", 0700);
        write(bin / "claude", "#!/bin/sh\n", 0700);
        write(m_machine.path() / "usr/lib/x86_64-linux-gnu/libQt6WebEngineCore.so.6", "");
        write(m_machine.path() / "usr/lib/x86_64-linux-gnu/libQt6WebEngineWidgets.so.6", "");
        options.environment["WAYLAND_DISPLAY"] = "wayland-0";
        QVERIFY(find(options, "bubblewrap").detail.find("bubblewrap 0.8.0") != std::string::npos);
        const Check pythons = find(options, "pythons");
        QCOMPARE(pythons.state, State::Ok);
        QCOMPARE(pythons.detail, "3.11.2 (" + real + "), 3.13.1 (/versions/3.13/bin/python3.13)");
        QVERIFY(find(options, "agents").detail.find("claude") != std::string::npos);
        QCOMPARE(find(options, "webengine").state, State::Ok);
        QCOMPARE(find(options, "display").detail, std::string("Wayland, wayland-0"));
    }

    void aProgramThatHangsIsNotWaitedFor()
    {
        const TemporaryFolder folder;
        DoctorOptions options = elsewhere();
        options.programTimeoutMs = 200;
        options.environment["PATH"] = folder.path().string();
        write(folder.path() / "bwrap", "#!/bin/sh\nexec /bin/sleep 60\n", 0700);
        QCOMPARE(find(options, "bubblewrap").state, State::Failed);
    }

    void namesTheDistribution()
    {
        const DoctorOptions options = elsewhere();
        const fs::path release = m_machine.path() / "etc/os-release";
        const fs::path setting = m_machine.path() / "proc/sys/kernel/apparmor_restrict_unprivileged_userns";
        write(release, "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\n");
        QCOMPARE(find(options, "distribution").state, State::Ok);
        write(release, "PRETTY_NAME=\"Ubuntu 24.04\"\nVERSION_ID=\"24.04\"\nID=ubuntu\n");
        QCOMPARE(find(options, "distribution").state, State::Warning);
        write(setting, "1\n");
        const Check restricted = find(options, "distribution");
        QVERIFY(restricted.fix.find("apparmor_restrict_unprivileged_userns=0") != std::string::npos);
        fs::remove(setting);
    }

    void subordinateIdsAreCounted()
    {
        if (::geteuid() == 0)
            QSKIP("root needs none");
        const DoctorOptions options = elsewhere();
        const std::string user = std::to_string(::geteuid());
        QCOMPARE(find(options, "subordinate_ids").state, State::Failed);
        for (const char* tool : {"newuidmap", "newgidmap"})
            write(m_machine.path() / "bin" / tool, "#!/bin/sh\n", 0700);
        for (const char* file : {"etc/subuid", "etc/subgid"})
            write(m_machine.path() / file, "other:1:65536\n" + user + ":100000:65536\n");
        QCOMPARE(find(options, "subordinate_ids").state, State::Ok);
        write(m_machine.path() / "etc/subgid", user + ":100000:1000\n");
        QVERIFY(find(options, "subordinate_ids").fix.find("--add-subgids") != std::string::npos);
    }

    void gpusAreSeen()
    {
        const DoctorOptions options = elsewhere();
        QCOMPARE(find(options, "gpu").state, State::Ok);
        QVERIFY(find(options, "gpu").detail.find("0 NVIDIA") == 0);
        write(m_machine.path() / "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
        write(m_machine.path() / "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
        QCOMPARE(find(options, "gpu").state, State::Warning);
        write(m_machine.path() / "dev/nvidia0", "");
        write(m_machine.path() / "dev/nvidiactl", "");
        write(m_machine.path() / "proc/driver/nvidia/version", "NVRM version: 550.1\nGCC\n");
        QCOMPARE(find(options, "gpu").state, State::Ok);
        const std::string seen = "1 NVIDIA devices, NVRM version: 550.1";
        QCOMPARE(find(options, "gpu").detail, seen + "; given by the driver's device files");
        const fs::path specification = m_machine.path() / "etc/cdi/nvidia.yaml";
        write(specification, "");
        QCOMPARE(find(options, "gpu").detail, seen + "; given by " + specification.string());
    }

    void limitsAreTold()
    {
        const DoctorOptions options = elsewhere();
        const fs::path groups = m_machine.path() / "sys/fs/cgroup";
        QCOMPARE(find(options, "cgroups").detail,
            std::string("memory: watched; processors: pinned to whole ones"));
        QCOMPARE(find(options, "cgroups").state, State::Warning);
        write(m_machine.path() / "proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/\n0::/scope\n");
        write(groups / "memory/a/cgroup.procs", "");
        QCOMPARE(find(options, "cgroups").detail,
            "memory: " + (groups / "memory/a").string() + "; processors: pinned to whole ones");
        write(groups / "scope/cgroup.controllers", "cpu memory pids\n");
        write(groups / "scope/cgroup.procs", "");
        const std::string scope = (groups / "scope").string();
        QCOMPARE(find(options, "cgroups").detail, "memory: " + scope + "; processors: " + scope);
        QCOMPARE(find(options, "cgroups").state, State::Ok);
    }

    void tokensAreFoundAndNeverShown()
    {
        DoctorOptions options = elsewhere();
        QCOMPARE(find(options, "token").state, State::Warning);
        const fs::path file = m_machine.path() / "home/.cache/huggingface/token";
        options.dataFolder = m_machine.path() / "data";
        write(options.dataFolder / "secrets.json", R"({"secrets": {"OTHER": {"value": "x"}}})", 0600);
        QCOMPARE(find(options, "token").state, State::Warning);
        write(options.dataFolder / "secrets.json",
            R"({"secrets": {"HF_TOKEN": {"value": "hf_NeverShowThis"}}})", 0600);
        QCOMPARE(find(options, "token").state, State::Ok);
        fs::remove(options.dataFolder / "secrets.json");
        write(file, "hf_NeverShowThis\n", 0644);
        QCOMPARE(find(options, "token").fix, "chmod 600 " + file.string());
        ::chmod(file.c_str(), 0600);
        QCOMPARE(find(options, "token").state, State::Ok);
        options.environment["HF_TOKEN"] = "hf_NeverShowThis";
        QCOMPARE(find(options, "token").detail, std::string("environment variable HF_TOKEN"));
        QVERIFY(checksJson(runDoctor(options)).dump().find("NeverShow") == std::string::npos);
    }

    void theHubIsAsked()
    {
        OneAnswerHub good("200 OK");
        const Json answered = hub("http://name:password@" + good.address() + "/");
        QCOMPARE(answered["state"].get<std::string>(), std::string("ok"));
        QVERIFY(answered.dump().find("password") == std::string::npos);
        QVERIFY(good.request().rfind("HEAD / ", 0) == 0);
        OneAnswerHub bad("503 Busy");
        QCOMPARE(hub("http://" + bad.address())["state"].get<std::string>(), std::string("warning"));
        const Json closed = hub("http://127.0.0.1:1");
        QCOMPARE(closed["state"].get<std::string>(), std::string("warning"));
        QVERIFY(!closed["fix"].get<std::string>().empty());
        QCOMPARE(hub("file:///etc/passwd")["state"].get<std::string>(), std::string("warning"));
        QCOMPARE(find(elsewhere(), "hub").state, State::Ok); // offline, as asked
    }

    void probesTellTheTruth()
    {
        // What the doctor says about namespaces is what a program of this user meets.
        const bool works = ::system("unshare --user --map-root-user --mount true 2>/dev/null") == 0;
        QCOMPARE(find(elsewhere(), "user_namespaces").state, works ? State::Ok : State::Failed);
        QCOMPARE(find(elsewhere(), "ports").state, State::Ok);
        DoctorOptions unwritable = elsewhere();
        unwritable.dataFolder = "/proc/nowhere";
        QCOMPARE(find(unwritable, "overlay").state, State::Failed);
    }
};

QTEST_GUILESS_MAIN(TestDoctor)
#include "tst_doctor.moc"
