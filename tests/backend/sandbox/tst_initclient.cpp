// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <array>
#include <chrono>
#include <csignal>

#include "ownpythonbox.h"

using namespace gb;
using namespace gb::test;

namespace {

QString said(const Result<ExecRecord>& record)
{
    if (!record)
        return QString::fromStdString("error: " + record.error().message);
    return QString::fromStdString(record->output + record->errors + "[" + std::to_string(record->code) + "]");
}

} // namespace

class TestInitClient : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        auto spec = ownPythonSpec(m_store);
        QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
        auto sandbox = launchSandbox(*spec, buildTools(), m_store.beside());
        QVERIFY2(sandbox.has_value(), sandbox ? "" : sandbox.error().message.c_str());
        m_sandbox = std::move(*sandbox);
    }

    void streamsAndExitCodes()
    {
        QCOMPARE(said(init().run(shell("echo out; echo err >&2; exit 3"))), QString("out\nerr\n[3]"));
        QCOMPARE(said(init().run(command({"echo", "a b", "", "ü"}))), QString("a b  ü\n[0]"));
        QCOMPARE(init().run(shell("kill -9 $$"))->code, 128 + SIGKILL);
        QCOMPARE(init().run(command({"no-such-program"})).error().code, std::string("io.not_found"));
        ExecSpec elsewhere = shell("pwd");
        elsewhere.folder = "/nowhere";
        QCOMPARE(init().run(elsewhere).error().code, std::string("io.not_found"));
        ExecSpec env = shell("env | sort");
        env.env = {{"PATH", "/usr/bin:/bin"}, {"ONLY", "this"}};
        const std::string variables = init().run(env)->output;
        QVERIFY2(variables.find("ONLY=this") != std::string::npos, variables.c_str());
        QVERIFY(variables.find("HOME=") == std::string::npos);
    }

    void standardInput()
    {
        ExecSpec spec = command({"sha256sum"});
        spec.input = true;
        const auto running = init().start(spec);
        QVERIFY(running.has_value());
        const std::string part(100000, 'x');
        for (int i = 0; i < 50; ++i)
            QVERIFY((*running)->write(part).has_value());
        QVERIFY((*running)->closeInput().has_value());
        const auto record = (*running)->wait();
        QCOMPARE(
            said(init().run(shell("head -c 5000000 /dev/zero | tr '\\0' x | sha256sum"))), said(*record));
        // A reader that ends early is no error for others, and the writer is told.
        ExecSpec brief = command({"true"});
        brief.input = true;
        const auto ended = init().start(brief);
        QVERIFY((*ended)->wait().has_value());
        QCOMPARE((*ended)->write("late").error().code, std::string("sandbox.command_ended"));
    }

    void muchOutputIsBoundedAndComplete()
    {
        ExecSpec spec = shell("head -c 30000000 /dev/zero");
        spec.outputLimit = 64U << 20U;
        QCOMPARE(init().run(spec)->output.size(), std::size_t(30000000));
        spec.outputLimit = 1000;
        const auto cut = init().run(spec);
        QCOMPARE(cut->output.size(), std::size_t(1000));
        QCOMPARE(cut->dropped, std::size_t(30000000 - 1000));
    }

    void outputLivesInTheSpool()
    {
        std::string id;
        {
            const auto running = init().start(shell("echo first; sleep 0.2; echo second"));
            id = (*running)->id();
        }
        // Nobody holds the command any more, and still it runs on.
        const fs::path file = m_store.beside() / (id + ".stdout");
        QTRY_COMPARE_WITH_TIMEOUT(readFile(file).value_or(""), std::string("first\nsecond\n"), 30000);
    }

    void timeoutsKillTheWholeSession()
    {
        ExecSpec spec = shell("sleep 1234 & (sleep 1235 & sleep 1236) & wait");
        spec.timeoutMs = 200;
        const auto record = init().run(spec);
        QVERIFY(record->timedOut);
        QCOMPARE(record->code, 128 + SIGKILL);
        QTRY_COMPARE_WITH_TIMEOUT(
            said(init().run(shell("cat /proc/[0-9]*/comm | grep -c sleep"))), QString("0\n[1]"), 30000);
        // The control: this way of looking does find a sleep.
        const auto control = init().run(shell(
            "sleep 1239 & until cat /proc/[0-9]*/comm | grep -q sleep; do :; done; echo found; kill $!"));
        QCOMPARE(said(control), QString("found\n[0]"));
    }

    void signalsReachTheCommand()
    {
        const auto running = init().start(shell(
            "exec 2>/dev/null; trap 'echo caught; exit 7' TERM; echo on; while :; do sleep 0.05; done"));
        QTRY_COMPARE_WITH_TIMEOUT((*running)->spool("stdout").size(), std::size_t(3), 30000);
        QVERIFY(!(*running)->wait(0).has_value());
        QVERIFY((*running)->signal(SIGTERM).has_value());
        QCOMPARE(said(*(*running)->wait()), QString("on\ncaught\n[7]"));
    }

    void terminals()
    {
        ExecSpec spec = shell("tty; stty size; read line; echo got $line");
        spec.terminal = true;
        spec.rows = 33;
        spec.columns = 101;
        const auto running = init().start(spec);
        QVERIFY((*running)->write("typed\n").has_value());
        const auto record = (*running)->wait();
        const std::string text = said(*record).toStdString();
        QVERIFY2(text.find("/dev/pts/") != std::string::npos, text.c_str());
        QVERIFY2(text.find("33 101") != std::string::npos, text.c_str());
        QVERIFY2(text.find("got typed") != std::string::npos, text.c_str());
        QCOMPARE(said(init().run(shell("tty; true"))), QString("not a tty\n[0]"));
    }

    void noZombies()
    {
        for (int i = 0; i < 20; ++i)
            QCOMPARE(init().run(shell("(sleep 0.01 &) ; true"))->code, 0);
        // Once without any is enough: between a command's end and its reaping there is always a moment.
        QString seen;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (std::chrono::steady_clock::now() < deadline) {
            seen = said(init().run(shell("grep -c '^State:.Z' /proc/[0-9]*/status | grep -vc ':0'")));
            if (seen == QString("0\n[1]"))
                return;
            QTest::qWait(20);
        }
        QCOMPARE(seen, QString("0\n[1]"));
    }

    void backgroundProcessesNeitherHoldNorDie()
    {
        const auto record = init().run(shell("(while :; do echo noise; sleep 0.01; done) & echo $!"));
        QCOMPARE(record->code, 0);
        const std::string pid = record->output.substr(0, record->output.find('\n'));
        const std::string still = "sleep 0.1; kill -0 " + (pid == "noise" ? "1" : pid) + " && echo alive";
        QVERIFY(said(init().run(shell(still))).contains("alive"));
        QVERIFY(init().run(shell("kill -9 " + pid + "; true")).has_value());
    }

    void filesGoInAndOut()
    {
        std::string big(9000000, '\0');
        for (std::size_t i = 0; i < big.size(); ++i)
            big[i] = static_cast<char>(i * 7 + (i >> 11U));
        QVERIFY(init().putBytes(big, "/workspace/a/b/big.bin", 0600).has_value());
        QVERIFY(*init().getBytes("/workspace/a/b/big.bin", big.size()) == big);
        QCOMPARE(
            init().getBytes("/workspace/a/b/big.bin", 1000).error().code, std::string("sandbox.too_large"));
        QCOMPARE((*init().stat("/workspace/a/b/big.bin"))["mode"].get<int>(), 0600);
        const fs::path local = m_store.beside() / "local.txt";
        QVERIFY(writeFileAtomic(local, "hello").has_value());
        QVERIFY(init().putFile(local, "/workspace/hello.txt").has_value());
        QVERIFY(init().getFile("/workspace/hello.txt", m_store.beside() / "back.txt").has_value());
        QCOMPARE(*readFile(m_store.beside() / "back.txt"), std::string("hello"));
        QVERIFY(init().putBytes("", "/workspace/empty").has_value());
        QCOMPARE(*init().getBytes("/workspace/empty", 1), std::string());
        QVERIFY(init().makeFolder("/workspace/x/y/z").has_value());
        const auto listed = init().list("/workspace");
        std::string names;
        for (const Json& entry : (*listed)["entries"])
            names += stringOr(entry, "name") + ":" + stringOr(entry, "kind") + " ";
        QCOMPARE(names, std::string("a:folder empty:file hello.txt:file x:folder "));
    }

    void whatIsNoFileIsRefused()
    {
        QCOMPARE(init().run(shell("mkfifo /workspace/fifo"))->code, 0);
        QCOMPARE(init().getBytes("/workspace/fifo", 10).error().code, std::string("init.not_a_file"));
        QCOMPARE(init().getBytes("/dev/zero", 10).error().code, std::string("init.not_a_file"));
        QCOMPARE(init().getBytes("/workspace", 10).error().code, std::string("init.not_a_file"));
        QCOMPARE(init().getBytes("relative", 10).error().code, std::string("init.path"));
        QCOMPARE(init().putBytes("x", "/usr/x").error().code, std::string("io.read_only"));
        QCOMPARE(init().getBytes("/workspace/none", 10).error().code, std::string("io.not_found"));
    }

    void aWorkerGetsItsOwnSocket()
    {
        ExecSpec spec = python("import socket; s = socket.socket(fileno=3); s.sendall(s.recv(10).upper())");
        spec.socket = true;
        const auto running = init().start(spec);
        const UniqueFd socket = (*running)->takeSocket();
        QVERIFY(socket.valid());
        QCOMPARE(::write(socket.get(), "hello", 5), ssize_t(5));
        std::array<char, 16> answer{};
        QCOMPARE(::read(socket.get(), answer.data(), answer.size()), ssize_t(5));
        QCOMPARE(std::string(answer.data()), std::string("HELLO"));
        QCOMPARE((*running)->wait().value()->code, 0);
    }

    void portsInsideAreReached()
    {
        const auto server = init().start(
            python("import socket\ns = socket.create_server(('127.0.0.1', 7007))\nprint('up', flush=True)\n"
                   "c, _ = s.accept()\nc.sendall(c.recv(10)[::-1])"));
        QTRY_COMPARE_WITH_TIMEOUT((*server)->spool("stdout").size(), std::size_t(3), 30000);
        const auto connection = init().connectPort(7007);
        QVERIFY2(connection.has_value(), connection ? "" : connection.error().message.c_str());
        QCOMPARE(::write(connection->get(), "abc", 3), ssize_t(3));
        std::array<char, 8> answer{};
        QCOMPARE(::read(connection->get(), answer.data(), answer.size()), ssize_t(3));
        QCOMPARE(std::string(answer.data()), std::string("cba"));
        QVERIFY(!init().connectPort(7008).has_value());
        QVERIFY(!init().connectSocket("/run/none.sock").has_value());
    }

    void meters()
    {
        const auto before = init().meters();
        QVERIFY((*before)["processes"].get<int>() >= 1);
        const auto running = init().start(python("b = bytearray(100 << 20); print(1, flush=True); input()"));
        const auto eater =
            init().start(python("b = b'x' * (100 << 20); print(1, flush=True); import time; time.sleep(9)"));
        QTRY_COMPARE_WITH_TIMEOUT((*eater)->spool("stdout").size(), std::size_t(2), 30000);
        QVERIFY((*init().meters())["memory"].get<std::int64_t>() > (100 << 20));
        QVERIFY((*eater)->signal(SIGKILL).has_value());
        QVERIFY((*running)->wait().has_value());
    }

    void manyAtOnce()
    {
        std::vector<std::shared_ptr<SandboxCommand>> commands;
        for (int i = 0; i < 40; ++i)
            commands.push_back(
                *init().start(shell("head -c 200000 /dev/zero | wc -c; exit " + std::to_string(i))));
        for (int i = 0; i < 40; ++i)
            QCOMPARE(said(*commands[static_cast<std::size_t>(i)]->wait()), QString("200000\n[%1]").arg(i));
    }

    void longStacksAreMountedWhole()
    {
        // More than mount(2) takes in one page of options: the oldest layer must still be there.
        auto spec = *ownPythonSpec(m_store);
        spec.readOnlyRoot = false;
        spec.upper = "stack/upper";
        spec.work = "stack/work";
        spec.folders.insert(spec.folders.end(), {spec.upper, spec.work});
        constexpr int layers = 60;
        for (int i = 0; i < layers; ++i) {
            spec.lowers.push_back("stack/" + std::string(100, 'x') + std::to_string(i));
            spec.folders.push_back(spec.lowers.back() + "/layer" + std::to_string(i));
        }
        const auto sandbox = launchSandbox(spec, buildTools());
        QVERIFY2(sandbox.has_value(), sandbox ? "" : sandbox.error().message.c_str());
        QCOMPARE(said((*sandbox)->init().run(shell("ls -d /layer* | wc -l; ls -d /layer0 /layer59"))),
            QString("60\n/layer0\n/layer59\n[0]"));
    }

    void theEnd()
    {
        const auto running = init().start(command({"sleep", "1000"}));
        m_sandbox->stop();
        const auto outcome = (*running)->wait();
        QCOMPARE(outcome->error().code, std::string("sandbox.gone"));
        QVERIFY(!m_sandbox->running());
        m_sandbox.reset();
    }

private:
    InitClient& init() const { return m_sandbox->init(); }

    TemporaryStore m_store;
    std::unique_ptr<RunningSandbox> m_sandbox;
};

QTEST_GUILESS_MAIN(TestInitClient)
#include "tst_initclient.moc"
