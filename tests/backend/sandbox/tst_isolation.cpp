// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <array>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "attempts.h"
#include "ownpythonbox.h"

using namespace gb;
using namespace gb::test;

class TestIsolation : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        // An open folder that must not be inherited, a secret in our environment, a socket others may use.
        m_leak.reset(::open("/", O_RDONLY | O_DIRECTORY));
        ::setenv("GLOVEBOX_TEST_SECRET", "hunter2", 1);
        QVERIFY(listenUnix());
        auto spec = ownPythonSpec(m_store);
        QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
        spec->processes = 200;
        spec->fileBytes = 8 << 20;
        auto sandbox = launchSandbox(*spec, buildTools());
        QVERIFY2(sandbox.has_value(), sandbox ? "" : sandbox.error().message.c_str());
        m_sandbox = std::move(*sandbox);
    }

    void noProcessOfTheHost()
    {
        const QString pids = inside("import os\nprint(len([p for p in os.listdir('/proc') if p.isdigit()]))");
        QCOMPARE(pids, QString("2"));
        QVERIFY(
            outside("import os\nprint(len([p for p in os.listdir('/proc') if p.isdigit()]))").toInt() > 2);
        QCOMPARE(inside(attempt("os.kill(" + std::to_string(::getpid()) + ", 0)")), QString("ESRCH"));
        QCOMPARE(outside(attempt("os.kill(" + std::to_string(::getpid()) + ", 0)")), QString("yes"));
    }

    void noWritesOutside_data()
    {
        QTest::addColumn<QString>("path");
        for (const char* path : {"/usr/x", "/etc/passwd", "/x", "/proc/sys/kernel/core_pattern",
                 "/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/sys/x", "/run/glovebox/init"})
            QTest::newRow(path) << QString(path);
    }

    void noWritesOutside()
    {
        QFETCH(QString, path);
        const std::string code =
            attempt("os.close(os.open('" + path.toStdString() + "', os.O_WRONLY | os.O_CREAT))");
        const QString answer = inside(code);
        QVERIFY2(answer == "EROFS" || answer == "EACCES" || answer == "ENOENT" || answer == "EPERM"
                || answer == "ETXTBSY",
            qPrintable(answer));
        QCOMPARE(
            inside(attempt("os.close(os.open('/workspace/x', os.O_WRONLY | os.O_CREAT))")), QString("yes"));
        // What root may do outside, and the root inside may not.
        if (::geteuid() == 0 && path.endsWith("core_pattern"))
            QCOMPARE(outside(attempt("os.close(os.open('" + path.toStdString() + "', os.O_WRONLY))")),
                QString("yes"));
    }

    void theHostsFilesAreNotThere()
    {
        for (const char* path : {"/root", "/home/glovebox-test", "/var", "/boot", "/etc/shadow", "/etc/ssh",
                 "/srv", "/proc/1/root/etc/shadow", "/tmp/.X11-unix", "/run/dbus", "/var/run/docker.sock",
                 "/run/user", "/run/docker.sock", "/proc/self/root/var"})
            QVERIFY2(inside(attempt("os.lstat('" + std::string(path) + "')")) != "yes", path);
        QCOMPARE(inside(attempt("os.lstat('/usr/bin/python3')")), QString("yes"));
        QCOMPARE(inside("print(open('/etc/passwd').read().count('\\n'))"), QString("2"));
    }

    void processOneGivesNothingAway()
    {
        for (const char* name :
            {"environ", "mem", "maps", "root/etc/passwd", "cwd/etc/passwd", "exe", "fd/3", "fd/4"}) {
            const QString answer = inside(attempt("open('/proc/1/" + std::string(name) + "', 'rb').read(1)"));
            QVERIFY2(answer == "EACCES" || answer == "EPERM", qPrintable(QString(name) + " " + answer));
        }
        QCOMPARE(inside(attempt("open('/proc/self/environ', 'rb').read(1)")), QString("yes"));
        QCOMPARE(inside(attempt("os.kill(1, 9)\nos.kill(1, 0)")),
            QString("yes")); // sent, and ignored by the kernel
        QVERIFY(m_sandbox->running());
    }

    void ourEnvironmentStaysOutside()
    {
        QVERIFY(!inside("import os\nprint(os.environ)").contains("hunter2"));
        QVERIFY(outside("import os\nprint(os.environ)").contains("hunter2"));
        QVERIFY(!inside("import glob\nfor p in glob.glob('/proc/[0-9]*/environ'):\n"
                        "    try: print(open(p).read())\n    except OSError: pass")
                     .contains("hunter2"));
    }

    void noInheritedDescriptors()
    {
        QCOMPARE(
            inside("import os\nprint(sorted(os.listdir('/proc/self/fd')))"), QString("['0', '1', '2', '3']"));
        ::fcntl(m_leak.get(), F_SETFD, 0);
        const std::string number = std::to_string(m_leak.get());
        QCOMPARE(outside(attempt("os.fstat(" + number + ")")), QString("yes"));
        QCOMPARE(inside(attempt("os.fstat(" + number + ")")), QString("EBADF"));
    }

    void noNetwork_data()
    {
        QTest::addColumn<QString>("code");
        QTest::newRow("tcp") << "s = socket.socket(); s.settimeout(2); s.connect(('192.0.2.1', 80))";
        QTest::newRow("udp")
            << "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))";
        QTest::newRow("tcp6")
            << "s = socket.socket(socket.AF_INET6); s.settimeout(2); s.connect(('2001:db8::1', 80))";
        QTest::newRow("raw") << "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)";
        QTest::newRow("packet") << "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)";
        QTest::newRow("vsock") << "socket.socket(40, socket.SOCK_STREAM)";
        QTest::newRow("alg") << "socket.socket(38, socket.SOCK_SEQPACKET)";
    }

    void noNetwork()
    {
        QFETCH(QString, code);
        const QString answer = inside(attempt(code.toStdString()));
        QVERIFY2(answer != "yes" && answer.startsWith("E"), qPrintable(answer));
        // The control: loopback inside is up, and connecting works there.
        QCOMPARE(
            inside(attempt(
                "s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())")),
            QString("yes"));
    }

    void noSocketsOfTheHost()
    {
        const std::string abstract =
            attempt("s = socket.socket(socket.AF_UNIX); s.connect('\\0" + m_abstract + "')");
        QCOMPARE(outside(abstract), QString("yes"));
        QCOMPARE(inside(abstract), QString("ECONNREFUSED"));
        const std::string tcp =
            attempt("socket.create_connection(('127.0.0.1', " + std::to_string(m_port) + "), 2)");
        QCOMPARE(outside(tcp), QString("yes"));
        QCOMPARE(inside(tcp), QString("ECONNREFUSED"));
        QCOMPARE(inside("import socket\ntry: socket.gethostbyname('example.org'); print('yes')\n"
                        "except OSError as e: print('refused')"),
            QString("refused"));
    }

    void refusedSystemCalls_data()
    {
        QTest::addColumn<long>("number");
        QTest::newRow("io_uring_setup") << long(SYS_io_uring_setup);
        QTest::newRow("bpf") << long(SYS_bpf);
        QTest::newRow("perf_event_open") << long(SYS_perf_event_open);
        QTest::newRow("keyctl") << long(SYS_keyctl);
        QTest::newRow("add_key") << long(SYS_add_key);
        QTest::newRow("ptrace") << long(SYS_ptrace);
        QTest::newRow("process_vm_readv") << long(SYS_process_vm_readv);
        QTest::newRow("pidfd_getfd") << long(SYS_pidfd_getfd);
        QTest::newRow("userfaultfd") << long(SYS_userfaultfd);
        QTest::newRow("mount") << long(SYS_mount);
        QTest::newRow("fsopen") << long(SYS_fsopen);
        QTest::newRow("setns") << long(SYS_setns);
        QTest::newRow("open_by_handle_at") << long(SYS_open_by_handle_at);
        QTest::newRow("kexec_load") << long(SYS_kexec_load);
        QTest::newRow("init_module") << long(SYS_init_module);
    }

    void refusedSystemCalls()
    {
        QFETCH(long, number);
        // -1 everywhere is refused by the kernel itself with something else than EPERM, except for rights.
        QCOMPARE(inside(attempt("check(libc.syscall(" + std::to_string(number) + ", -1, -1, -1, -1, -1))")),
            QString("EPERM"));
        QCOMPARE(inside(attempt("check(libc.syscall(" + std::to_string(SYS_getpid) + "))")), QString("yes"));
    }

    void nobodyIsTraced()
    {
        // Being traced by one's parent asks for no rights at all.
        const std::string code = attempt("check(libc.ptrace(0, 0, 0, 0))");
        QCOMPARE(inside(code), QString("EPERM"));
        QCOMPARE(outside(code), QString("yes"));
    }

    void whatLinksIntoTheStoreStaysAsItIs()
    {
        // As layers of packages are made: one file, in the layer and in the cache.
        const auto made = runMapped(m_store.path(),
            {"sh", "-c", "mkdir -p lower cache && echo shared > cache/file && ln cache/file lower/file"},
            buildTools());
        QVERIFY(made && made->code == 0);
        auto spec = ownPythonSpec(m_store);
        spec->lowers = {"lower"};
        spec->upper = "upper";
        spec->work = "work";
        spec->folders = {"workspace", "upper", "work"};
        spec->readOnlyRoot = false;
        spec->binds.push_back({"cache", "/cache", true});
        auto sandbox = launchSandbox(*spec, buildTools());
        QVERIFY2(sandbox.has_value(), sandbox ? "" : sandbox.error().message.c_str());
        const auto change = [&](const std::string& how) {
            return (*sandbox)->init().run(
                python("import os, mmap\n" + how + "\nprint(open('/file').read())"));
        };
        const std::string memory = "f = open('/file', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'X'; "
                                   "m.flush(); m.close(); f.close()";
        for (const std::string& how : {std::string("open('/file', 'a').write('more')"), memory,
                 std::string("os.truncate('/file', 2)"), std::string("os.chmod('/file', 0o4777)")}) {
            const auto changed = change(how);
            QVERIFY2(changed && changed->code == 0, changed ? changed->errors.c_str() : "");
        }
        QVERIFY(change("pass")->output != "shared\n\n"); // it did change what it sees
        const std::string look =
            "import os\nprint(open('/cache/file').read(), oct(os.stat('/cache/file').st_mode))";
        QCOMPARE((*sandbox)->init().run(python(look))->output, std::string("shared\n 0o100644\n"));
        // The control: where the cache itself can be written, its file changes.
        QCOMPARE((*sandbox)->init().run(python("open('/cache/file', 'a').write('more')\n" + look))->output,
            std::string("shared\nmore 0o100644\n"));
    }

    void noNewUserNamespaces()
    {
        constexpr const char* code = "check(libc.unshare(0x10000000))";
        QCOMPARE(inside(attempt(code)), QString("EPERM"));
        QCOMPARE(outside(attempt(code)), QString("yes"));
        QCOMPARE(inside("print(open('/proc/sys/user/max_user_namespaces').read())"), QString("0"));
        QCOMPARE(
            inside(attempt("check(libc.syscall(56, 0x10000011, 0, 0, 0, 0))")), QString("EPERM")); // clone
    }

    void noPrivileges()
    {
        QVERIFY(
            inside("print([l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')][0])")
                .endsWith("0000000000000000"));
        QCOMPARE(
            inside(
                "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')][0])"),
            QString("1"));
        QCOMPARE(inside(attempt("os.mknod('/workspace/null', 0o20666, os.makedev(1, 3))")), QString("EPERM"));
        QCOMPARE(inside(attempt("os.mkfifo('/workspace/pipe')")), QString("yes"));
        QCOMPARE(inside(attempt("os.setuid(1)")), QString("EPERM"));
        QCOMPARE(inside(attempt("os.chown('/workspace/pipe', 5, 5)")), QString("EPERM"));
        // Outside, what it left belongs to a subordinate id, never to us and never setuid for us.
        inside("import os\nopen('/workspace/suid', 'w').close()\nos.chmod('/workspace/suid', 0o4755)");
        struct stat info
        { };
        QCOMPARE(::lstat((m_store.path() / "workspace" / "suid").c_str(), &info), 0);
        QVERIFY(info.st_uid != ::geteuid() && info.st_uid != 0);
    }

    void noTypingIntoTerminals()
    {
        ExecSpec spec = python(attempt("import fcntl\nfcntl.ioctl(0, 0x5412, b'x')"));
        spec.terminal = true;
        const auto record = m_sandbox->init().run(spec);
        QVERIFY2(record->output.starts_with("EPERM"), record->output.c_str());
        spec = python(
            attempt("import fcntl\nfcntl.ioctl(0, 0x5413, b'12345678')")); // asking for its size is allowed
        spec.terminal = true;
        QVERIFY(m_sandbox->init().run(spec)->output.starts_with("yes"));
    }

    void linksLeadNowhere()
    {
        // Links that someone plants in the sandbox point at what *it* sees, also for uploads and downloads.
        inside("import os\nos.symlink('/etc', '/workspace/etc')\nos.symlink('../../../../etc/shadow', "
               "'/workspace/s')");
        QVERIFY(!m_sandbox->init().getBytes("/workspace/s", 1000).has_value());
        QCOMPARE(*m_sandbox->init().getBytes("/workspace/etc/passwd", 1000),
            *readFile(m_store.beside() / "etc" / "passwd"));
        QVERIFY(!m_sandbox->init().putBytes("x", "/workspace/etc/evil").has_value());
        QVERIFY(m_sandbox->init().putBytes("x", "/workspace/good").has_value());
        std::error_code error;
        QVERIFY(!fs::exists(m_store.beside() / "etc" / "evil", error));
    }

    void theirBombsEndInside()
    {
        QCOMPARE(
            inside(attempt("import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                           "f = open('/workspace/big', 'wb')\nfor i in range(100): f.write(bytes(1 << 20))")),
            QString("EFBIG"));
        QCOMPARE(inside(attempt("for n in range(20):\n    f = open('/tmp/%d' % n, 'wb')\n"
                                "    for i in range(7): f.write(bytes(1 << 20))\n    f.close()")),
            QString("ENOSPC"));
        ExecSpec noise = shell("yes | head -c 50000000");
        noise.outputLimit = 10000;
        QCOMPARE(m_sandbox->init().run(noise)->output.size(), std::size_t(10000));
        // Last, because its processes fill the sandbox until they are told to end.
        const QString forks =
            inside("import os, time\nn = 0\ntry:\n    while n < 5000:\n"
                   "        if os.fork() == 0: time.sleep(60); os._exit(0)\n        n += 1\n"
                   "except OSError as e: print('stopped' if n < 200 else n)");
        QCOMPARE(forks, QString("stopped"));
        QCOMPARE(inside("print('still here')"), QString("still here"));
    }

    void everythingDiesWithTheKeeper()
    {
        // A keeper in a child process, killed without a chance to say anything.
        int ends[2];
        QCOMPARE(::pipe2(ends, O_CLOEXEC), 0);
        const pid_t keeper = ::fork();
        if (keeper == 0) {
            auto spec = ownPythonSpec(m_store);
            spec->folders = {"workspace"};
            auto sandbox = launchSandbox(*spec, buildTools());
            const auto running = sandbox ? (*sandbox)->init().start(command({"sleep", "4321"}))
                                         : Result<std::shared_ptr<SandboxCommand>>(nullptr);
            const char answer = running && *running ? 'y' : 'n';
            (void)!::write(ends[1], &answer, 1);
            ::pause();
            ::_exit(0);
        }
        char answer = 0;
        QCOMPARE(::read(ends[0], &answer, 1), ssize_t(1));
        ::close(ends[0]);
        ::close(ends[1]);
        QCOMPARE(answer, 'y');
        const std::string count =
            "import glob\nn = 0\nfor p in glob.glob('/proc/[0-9]*/cmdline'):\n"
            "    try: n += open(p).read() == 'sleep\\0' + '4321\\0'\n    except OSError: pass\nprint(n)";
        QCOMPARE(outside(count), QString("1"));
        ::kill(keeper, SIGKILL);
        ::waitpid(keeper, nullptr, 0);
        QTRY_COMPARE_WITH_TIMEOUT(outside(count), QString("0"), 30000);
    }

    void withoutIsolationNothingRuns()
    {
        QCOMPARE(codeWithoutBubblewrap(), QString("sandbox.no_bwrap"));
        LaunchTools tools = buildTools();
        tools.init = "/nonexistent/init";
        auto spec = ownPythonSpec(m_store);
        QCOMPARE(launchSandbox(*spec, tools).error().code, std::string("io.not_found"));
        spec->binds.push_back({"/nonexistent/source", "/x"});
        const auto refused = launchSandbox(*spec, buildTools());
        QVERIFY2(refused.error().message.find("/nonexistent/source") != std::string::npos,
            refused.error().message.c_str());
    }

private:
    // What starting says on a machine on which bubblewrap is no program: a copy of this process with mounts
    // of its own stands for it.
    QString codeWithoutBubblewrap() const
    {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            return "no pipe";
        const pid_t child = ::fork();
        if (child == 0) {
            std::string said = "no namespace";
            if (::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0) {
                ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
                for (const char* place : {"/usr/local/bin/bwrap", "/usr/bin/bwrap"})
                    ::mount("/dev/null", place, nullptr, MS_BIND, nullptr);
                const auto started = launchSandbox(*ownPythonSpec(m_store), buildTools());
                said = started ? "started" : started.error().code;
                const bool saysHow = !started && started.error().message.find("install") != std::string::npos;
                said += saysHow ? "" : ", and not what to do";
            }
            (void)!::write(ends[1], said.data(), said.size());
            ::_exit(0);
        }
        ::close(ends[1]);
        std::array<char, 256> buffer{};
        const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
        ::close(ends[0]);
        ::waitpid(child, nullptr, 0);
        return QString::fromUtf8(buffer.data(), std::max<ssize_t>(0, got));
    }

    QString inside(const std::string& code)
    {
        const auto record = m_sandbox->init().run(python(code));
        if (!record)
            return QString::fromStdString(record.error().message);
        return QString::fromStdString(record->output + record->errors).trimmed();
    }

    bool listenUnix()
    {
        m_abstract = "glovebox-test-" + std::to_string(::getpid());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::copy(m_abstract.begin(), m_abstract.end(), address.sun_path + 1);
        m_unix.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + m_abstract.size());
        if (::bind(m_unix.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0
            || ::listen(m_unix.get(), 5) != 0)
            return false;
        m_tcp.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in local{};
        local.sin_family = AF_INET;
        local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof local;
        if (::bind(m_tcp.get(), reinterpret_cast<const sockaddr*>(&local), length) != 0
            || ::listen(m_tcp.get(), 5) != 0)
            return false;
        ::getsockname(m_tcp.get(), reinterpret_cast<sockaddr*>(&local), &length);
        m_port = ntohs(local.sin_port);
        return true;
    }

    TemporaryStore m_store;
    std::unique_ptr<RunningSandbox> m_sandbox;
    UniqueFd m_leak;
    UniqueFd m_unix;
    UniqueFd m_tcp;
    std::string m_abstract;
    int m_port = 0;
};

QTEST_GUILESS_MAIN(TestIsolation)
#include "tst_isolation.moc"
