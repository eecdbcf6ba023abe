// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// What a person has outside and no sandbox may see, follow or be changed by. Each has beside it that outside
// it can be seen.

#include <QTest>

#include <cstdlib>
#include <map>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <backend/base/ids.h>
#include <backend/sandbox/local/localsandbox.h>

#include "attempts.h"
#include "ownpythonbox.h"

using namespace gb;
using namespace gb::test;

class TestPersonsThings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        fs::permissions(m_home.path(), fs::perms(0755));
        for (const auto& [name, value] : files())
            write(name, value);
        ::setenv("HOME", m_home.path().c_str(), 1);
        ::setenv("BASH_ENV", (m_home.path() / ".bashrc").c_str(), 1);
        ::setenv("ENV", (m_home.path() / ".bashrc").c_str(), 1);
        ::setenv("PYTHONSTARTUP", (m_home.path() / ".pythonrc").c_str(), 1);
        ::setenv("PYTHONPATH", (m_home.path() / "lib").c_str(), 1);
        for (const auto& [name, socket] : sockets()) {
            ::setenv(name.c_str(), (name.starts_with("DBUS") ? "unix:path=" + socket : socket).c_str(), 1);
            m_listeners.push_back(listenAt(socket));
            QVERIFY2(m_listeners.back().valid(), socket.c_str());
        }
        m_request.id = newId();
        m_request.experimentFolder = m_home.path();
        m_request.spec.interpreter = "/usr/bin/python3";
        QVERIFY2(start(), m_error.message.c_str());
    }

    void cleanupTestCase()
    {
        m_sandbox.reset();
        (void)runMapped(m_images.storeFolder(), {"sh", "-c", "chmod -R u+rwX . ; rm -rf ./*"}, buildTools());
    }

    void theKeyring()
    {
        constexpr int ofSession = -3;
        constexpr int joinSession = 1;
        constexpr const char* name = "glovebox-probe";
        if (::syscall(SYS_keyctl, joinSession, nullptr) < 0
            || ::syscall(SYS_add_key, "user", name, "hunter2", 7, ofSession) < 0)
            QSKIP("no keys here"); // as in some containers
        QVERIFY2(start(), m_error.message.c_str()); // from a session that has the key
        const std::string list = "print('" + std::string(name) + "' in open('/proc/keys').read())";
        QCOMPARE(outside(list), QString("True"));
        QCOMPARE(inside(list), QString("False"));
        const std::string search = attempt(
            "check(libc.syscall(" + std::to_string(SYS_keyctl) + ", 10, -3, b'user', b'" + name + "', 0))");
        QCOMPARE(outside(search), QString("yes"));
        QCOMPARE(inside(search), QString("EPERM"));
    }

    void socketsOfThePerson_data()
    {
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("path");
        for (const auto& [variable, path] : sockets())
            QTest::newRow(variable.c_str())
                << QString::fromStdString(variable) << QString::fromStdString(path);
    }

    // The agent of one's keys, the session's bus, the screen, Docker: whoever reaches one of them is the
    // person.
    void socketsOfThePerson()
    {
        QFETCH(QString, variable);
        QFETCH(QString, path);
        const std::string reach =
            attempt("s = socket.socket(socket.AF_UNIX); s.connect('" + path.toStdString() + "')");
        QCOMPARE(outside(reach), QString("yes"));
        QCOMPARE(inside(reach), QString("ENOENT"));
        const std::string told = "import os\nprint('" + variable.toStdString() + "' in os.environ)";
        QCOMPARE(outside(told), QString("True"));
        QCOMPARE(inside(told), QString("False"));
    }

    void filesThatRunByThemselves_data()
    {
        QTest::addColumn<QString>("command");
        QTest::newRow("bashrc") << "bash -c 'echo ${FROM_BASHRC:-nothing}'";
        QTest::newRow("profile") << "bash -lc 'echo ${FROM_PROFILE:-nothing}'";
        QTest::newRow("sitecustomize")
            << "python3 -c 'import sys; print(getattr(sys, \"from_sitecustomize\", \"nothing\"))'";
        QTest::newRow("usercustomize")
            << "python3 -c 'import sys; print(getattr(sys, \"from_usercustomize\", \"nothing\"))'";
        QTest::newRow("pythonrc")
            << "echo 'print(globals().get(\"from_pythonrc\", \"nothing\"))' | python3 -i 2>/dev/null";
        QTest::newRow("gitconfig") << "git config --get user.secret || echo nothing";
        QTest::newRow("pip.conf")
            << "python3 -c 'import os; p = os.path.expanduser(\"~/.config/pip/pip.conf\"); "
               "print(open(p).read() if os.path.exists(p) else \"nothing\")'";
    }

    void filesThatRunByThemselves()
    {
        QFETCH(QString, command);
        QCOMPARE(outsideShell(command), QString("ran"));
        const auto record = m_sandbox->init().run(m_sandbox->shell(command.toStdString()));
        QVERIFY(record.has_value());
        QCOMPARE(QString::fromStdString(record->output).trimmed(), QString("nothing"));
    }

    void foldersWithLinksThatLeadOut()
    {
        // The first brings a link under the name of a folder of the second.
        write("first/keep", "kept");
        write("second/stolen", "here");
        std::error_code error;
        fs::create_directories(m_home.path() / "target", error);
        fs::create_directory_symlink(m_home.path() / "target", m_home.path() / "first" / "way", error);
        m_request.spec.localDirs = {{"first", "/workspace/in"}, {"second", "/workspace/in/way"}};
        const bool started = start();
        m_request.spec.localDirs.clear();
        // Outside, the same two copies do go through the link.
        QCOMPARE(std::system(("cd " + m_home.path().string()
                     + " && mkdir plain && cp -a first/. plain && "
                       "cp second/stolen plain/way/control")
                                 .c_str()),
            0);
        QVERIFY(fs::exists(m_home.path() / "target" / "control", error));
        QVERIFY(!fs::exists(m_home.path() / "target" / "stolen", error));
        QVERIFY2(started || m_error.code == "init.path", m_error.code.c_str());
        QVERIFY2(start(), m_error.message.c_str());
    }

    void reposWithNamesThatLeadOut_data()
    {
        QTest::addColumn<QString>("entries");
        QTest::addColumn<QString>("end"); // of the clone
        QTest::newRow("ordinary") << "100644 blob FILE\\tescaped"
                                  << "taken";
        QTest::newRow("parent") << "040000 tree TREE\\t.."
                                << "refused";
        QTest::newRow("hook") << "040000 tree TREE\\t.git"
                              << "refused";
        QTest::newRow("link and folder") << "120000 blob LINK\\tway\\n040000 tree TREE\\tway"
                                         << "either";
    }

    void reposWithNamesThatLeadOut()
    {
        QFETCH(QString, entries);
        QFETCH(QString, end);
        const std::string repo = (m_home.path() / ("repo" + newId())).string();
        const std::string script = "set -e; git init -q " + repo + "; cd " + repo
            + "; target=" + (m_home.path() / "target").string()
            + "; FILE=$(echo x | git hash-object -w --stdin); LINK=$(printf %s $target | git hash-object -w "
              "--stdin)"
              "; TREE=$(printf '100644 blob %s\\tescaped\\n' $FILE | git mktree)"
              "; ROOT=$(printf '"
            + entries.toStdString()
            + "\\n' | sed \"s/FILE/$FILE/; s/TREE/$TREE/; s/LINK/$LINK/\" | git mktree --missing)"
              "; git update-ref HEAD $(git -c user.name=t -c user.email=t@example.org commit-tree -m one "
              "$ROOT)";
        QCOMPARE(std::system(script.c_str()), 0);
        m_request.build.env = {{"GIT_CONFIG_COUNT", "3"}, {"GIT_CONFIG_KEY_0", "url." + repo + ".insteadOf"},
            {"GIT_CONFIG_VALUE_0", "https://git.example.org/team/tool"},
            {"GIT_CONFIG_KEY_1", "protocol.file.allow"}, {"GIT_CONFIG_VALUE_1", "always"},
            {"GIT_CONFIG_KEY_2", "safe.directory"}, {"GIT_CONFIG_VALUE_2", "*"}};
        m_request.spec.repos = {{"https://git.example.org/team/tool", "", {}}};
        const bool started = start();
        m_request.spec.repos.clear();
        QVERIFY2(end == "either" || started == (end == "taken"), m_error.message.c_str());
        if (end == "taken")
            QCOMPARE(inside("import os\nprint(os.path.exists('/workspace/tool/escaped'))"), QString("True"));
        std::error_code error;
        const fs::path clones = m_images.storeFolder().parent_path() / "clones";
        for (const fs::path& place : {m_home.path() / "target", clones, clones.parent_path()})
            QVERIFY2(!fs::exists(place / "escaped", error), place.c_str());
        QVERIFY2(start(), m_error.message.c_str());
    }

private:
    static std::map<std::string, std::string> files()
    {
        return {{".bashrc", "export FROM_BASHRC=ran\n"}, {".bash_profile", "export FROM_PROFILE=ran\n"},
            {".pythonrc", "from_pythonrc = 'ran'\n"},
            {"lib/sitecustomize.py", "import sys\nsys.from_sitecustomize = 'ran'\n"},
            {"lib/usercustomize.py", "import sys\nsys.from_usercustomize = 'ran'\n"},
            {".gitconfig", "[user]\n\tsecret = ran\n"}, {".config/pip/pip.conf", "ran"}};
    }

    std::map<std::string, std::string> sockets() const
    {
        const std::string folder = m_home.path().string();
        return {{"SSH_AUTH_SOCK", folder + "/agent"}, {"DBUS_SESSION_BUS_ADDRESS", folder + "/bus"},
            {"DISPLAY", folder + "/X11"}, {"DOCKER_HOST", folder + "/docker.sock"}};
    }

    static UniqueFd listenAt(const std::string& path)
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
        UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        constexpr int waiting = 16;
        const bool listens =
            ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
            && ::listen(fd.get(), waiting) == 0;
        return listens ? std::move(fd) : UniqueFd();
    }

    // With this process's environment, as whoever types it.
    static QString outsideShell(const QString& command)
    {
        FILE* said = ::popen(command.toStdString().c_str(), "r");
        QString text;
        std::array<char, 4096> buffer{};
        while (said && std::fgets(buffer.data(), buffer.size(), said))
            text += QString::fromUtf8(buffer.data());
        if (said)
            ::pclose(said);
        return text.trimmed();
    }

    void write(const std::string& name, const std::string& text) const
    {
        std::error_code error;
        fs::create_directories((m_home.path() / name).parent_path(), error);
        QVERIFY(writeFileAtomic(m_home.path() / name, text).has_value());
    }

    bool start()
    {
        m_sandbox.reset();
        m_request.id = newId();
        auto started = LocalSandbox::start(m_images, m_request, {});
        if (started)
            m_sandbox = std::move(*started);
        else
            m_error = started.error();
        return started.has_value();
    }

    QString inside(const std::string& code) const
    {
        const auto record = m_sandbox->init().run(m_sandbox->command({"/usr/bin/python3", "-c", code}));
        return record ? QString::fromStdString(record->output + record->errors).trimmed()
                      : QString::fromStdString(record.error().message);
    }

    TemporaryFolder m_home;
    TemporaryFolder m_data;
    ImageStore m_images{m_data.path() / "sandboxes", buildTools()};
    std::vector<UniqueFd> m_listeners;
    StartRequest m_request;
    std::unique_ptr<LocalSandbox> m_sandbox;
    Error m_error;
};

QTEST_GUILESS_MAIN(TestPersonsThings)
#include "tst_personsthings.moc"
