// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <csignal>
#include <cstdlib>

#include <sys/socket.h>
#include <sys/un.h>

#include <backend/base/ids.h>
#include <backend/base/paths.h>
#include <backend/sandbox/local/localprovider.h>
#include <backend/sandbox/local/localsandbox.h>

#include "ownpythonbox.h"

using namespace gb;
using namespace gb::test;

class TestLocalSandbox : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_request = {};
        m_request.id = newId();
        m_request.experimentFolder = m_folder.path();
        m_request.spec.interpreter = "/usr/bin/python3";
    }

    void cleanupTestCase()
    {
        (void)runMapped(m_images.storeFolder(), {"sh", "-c", "chmod -R u+rwX . ; rm -rf ./*"}, buildTools());
    }

    void aSpecBecomesASandbox()
    {
        m_request.spec.env = {{"GREETING", "hello"}};
        QVERIFY(start());
        QCOMPARE(shell("echo $GREETING; pwd; python3 -c 'import sys; print(sys.executable)'"),
            QString("hello\n/workspace\n/usr/bin/python3\n"));
        QVERIFY(m_sandbox->warnings().empty());
        QVERIFY(m_sandbox->running());
        QVERIFY(m_sandbox->remove().has_value());
        std::error_code error;
        QVERIFY(!fs::exists(m_images.storeFolder() / "boxes" / m_request.id, error));
    }

    void whatCannotBeToldIsNotTakenForGone()
    {
        const fs::path data = m_folder.path() / "told";
        const auto sockets = socketFolder(data);
        QVERIFY(sockets.has_value());
        LocalProvider::Options options;
        options.dataFolder = data;
        LocalProvider provider(options);
        const fs::path left = *sockets / (newId() + ".box");
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        QVERIFY(left.string().copy(address.sun_path, sizeof address.sun_path - 1) == left.string().size());
        {
            const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
            QCOMPARE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        }
        QVERIFY(provider.list().has_value() && provider.list()->empty()); // nobody listens
        const fs::path loop = *sockets / (newId() + ".box");
        fs::create_symlink(loop, loop);
        QVERIFY(!provider.list().has_value());
        fs::remove_all(*sockets);
    }

    void wrappersLeadToWhatTheyRun()
    {
        write("shim", "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n");
        fs::permissions(m_folder.path() / "shim", fs::perms(0755));
        std::error_code error;
        fs::create_symlink("/usr/bin/python3", m_folder.path() / "link", error);
        for (const char* name : {"shim", "link"}) {
            m_request.id = newId();
            m_request.spec.interpreter = (m_folder.path() / name).string();
            QVERIFY2(start(), m_error.message.c_str());
            const std::string python = m_sandbox->python();
            QVERIFY2(python.starts_with("/usr/bin/python3"), python.c_str());
            QCOMPARE(shell(python + " -c 'print(6 * 7)'"), QString("42\n"));
        }
        // One that is a Python of nowhere, and one that is none.
        for (const char* text : {"#!/bin/sh\necho '{\"executable\": \"/nowhere/python\", \"named\": "
                                 "\"/nowhere/python\", \"version\": \"3.11.2\", \"prefixes\": []}'\n",
                 "#!/bin/sh\necho hello\n"}) {
            write("shim", text);
            fs::permissions(m_folder.path() / "shim", fs::perms(0755));
            m_request.spec.interpreter = (m_folder.path() / "shim").string();
            QVERIFY(!start());
            QCOMPARE(m_error.code, std::string("sandbox.interpreter"));
            QCOMPARE(stringOr(m_error.data, "field"), std::string("interpreter"));
        }
    }

    void filesAndFoldersComeIn()
    {
        write("a.txt", "one");
        write("tool.sh", "#!/bin/sh\necho ran\n");
        fs::permissions(m_folder.path() / "tool.sh", fs::perms(0755));
        write("data/deep/b.txt", "two");
        std::error_code error;
        fs::create_symlink("/etc/shadow", m_folder.path() / "data" / "shadow", error);
        fs::create_symlink("deep/b.txt", m_folder.path() / "data" / "link", error);
        m_request.spec.localFiles = {{"a.txt", "/workspace/in/a.txt"}, {"tool.sh", "/workspace/tool.sh"}};
        m_request.spec.localDirs = {{"data", "/workspace/data"}};
        QVERIFY(start());
        QCOMPARE(shell("cat in/a.txt data/deep/b.txt data/link; ./tool.sh"), QString("onetwotworan\n"));
        // A link out of the folder stays a link, and what it names is the sandbox's own.
        QCOMPARE(shell("readlink data/shadow; cat data/shadow 2>/dev/null || echo nothing"),
            QString("/etc/shadow\nnothing\n"));
    }

    void mountsAreLive()
    {
        write("shared/live.txt", "before");
        fs::permissions(m_folder.path(), fs::perms(0755));
        m_request.spec.localDirs = {{"shared", "/data/shared", MountMode::ReadOnly}};
        QVERIFY(start());
        QCOMPARE(shell("cat /data/shared/live.txt"), QString("before"));
        write("shared/live.txt", "after");
        QCOMPARE(shell("cat /data/shared/live.txt"), QString("after"));
        QVERIFY(shell("echo x > /data/shared/live.txt").contains("Read-only"));
    }

    void aWritableMountIsThePersons()
    {
        if (::geteuid() == 0)
            QSKIP("root's own files are nobody's inside");
        write("out/keep.txt", "x");
        fs::permissions(m_folder.path() / "out", fs::perms(0777));
        m_request.spec.localDirs = {{"out", "/data/out", MountMode::Writable}};
        QVERIFY(start());
        QCOMPARE(shell("echo result > /data/out/new.txt"), QString());
        QCOMPARE(*readFile(m_folder.path() / "out" / "new.txt"), std::string("result\n"));
    }

    void modelsHaveTheirPlacesAndVariables()
    {
        write("weights/config.json", "{}");
        fs::permissions(m_folder.path(), fs::perms(0755));
        ModelSpec model;
        model.name = "google/gemma-2.5";
        model.path = "weights";
        m_request.spec.models = {model};
        QVERIFY(start());
        QCOMPARE(shell("echo $MODEL_GOOGLE_GEMMA_2_5_PATH; cat $MODEL_GOOGLE_GEMMA_2_5_PATH/config.json "
                       "/models/gemma-2.5/config.json /volumes/google_gemma-2.5/config.json"),
            QString("/models/google--gemma-2.5\n{}{}{}"));
        // No shell keeps a name with a dot; Python does.
        const auto original = m_sandbox->init().run(m_sandbox->command(
            {"python3", "-c", "import os; print(os.environ['MODEL_GOOGLE_GEMMA_2.5_PATH'])"}));
        QCOMPARE(original->output, std::string("/models/google--gemma-2.5\n"));
        QVERIFY(shell("touch /models/google--gemma-2.5/x").contains("Read-only"));
        m_request.spec.models[0].path = "nowhere";
        m_request.id = newId();
        QVERIFY(!start());
        QCOMPARE(m_error.code, std::string("sandbox.model_missing"));
    }

    void secretsComePerCommandAndNowhereElse()
    {
        m_request.spec.secrets = {"API_KEY", "OTHER_KEY"};
        m_request.secrets = {{"API_KEY", "s3cret-value"}};
        QVERIFY(start());
        QCOMPARE(m_sandbox->warnings().size(), std::size_t(1));
        QVERIFY(m_sandbox->warnings()[0].message.starts_with("OTHER_KEY"));
        QCOMPARE(shell("echo $API_KEY"), QString("s3cret-value\n")); // the control
        QVERIFY(!m_sandbox->environment().contains("API_KEY"));
        QVERIFY(!QString::fromStdString(Json(m_request.spec.toJson()).dump()).contains("s3cret"));
        ExecSpec bare =
            m_sandbox->command({"/bin/sh", "-c", "cat /proc/1/environ /proc/1/cmdline 2>/dev/null; env"});
        bare.env.erase("API_KEY");
        QVERIFY(m_sandbox->init().run(bare)->output.find("s3cret") == std::string::npos);
        m_request.spec.scoped = true;
        m_request.id = newId();
        QVERIFY(start());
        QCOMPARE(shell("echo [$API_KEY]"), QString("[]\n"));
    }

    void reposAreClonedWithoutTheirHooks()
    {
        const std::string repo = (m_folder.path() / "upstream").string();
        const std::string make = "mkdir -p " + repo + " && cd " + repo
            + " && git init -q . && echo content > file && ln -s /etc/passwd link && git add . && "
              "git -c user.name=t -c user.email=t@example.org commit -qm one";
        QCOMPARE(std::system(make.c_str()), 0);
        // The address of the spec, redirected to a folder: the only way a test has without a server.
        m_request.build.env = {{"GIT_CONFIG_COUNT", "3"}, {"GIT_CONFIG_KEY_0", "url." + repo + ".insteadOf"},
            {"GIT_CONFIG_VALUE_0", "https://git.example.org/team/tool"},
            {"GIT_CONFIG_KEY_1", "protocol.file.allow"}, {"GIT_CONFIG_VALUE_1", "always"},
            {"GIT_CONFIG_KEY_2", "safe.directory"}, {"GIT_CONFIG_VALUE_2", "*"}};
        m_request.spec.repos = {
            {"https://git.example.org/team/tool", "Dockerfile", "echo installed > done; exit 3"}};
        QVERIFY2(start(), m_error.message.c_str());
        QCOMPARE(shell("cat tool/file tool/done; readlink tool/link"),
            QString("content\ninstalled\n/etc/passwd\n"));
        QCOMPARE(m_sandbox->warnings().size(), std::size_t(2)); // the install command said 3
        QVERIFY(m_sandbox->warnings()[0].message.starts_with("Dockerfile of"));
        m_request.build.env.clear();
        m_request.id = newId();
        m_request.spec.repos = {{"https://127.0.0.1:1/team/tool", "", {}}};
        QVERIFY(!start());
        QCOMPARE(m_error.code, std::string("sandbox.clone_failed"));
    }

    void memoryIsWatched()
    {
        m_request.spec.memory = 256L << 20;
        QVERIFY(start());
        QCOMPARE(shell("python3 -c 'b = bytes(50 << 20); print(len(b))'"), QString("52428800\n"));
        QVERIFY(m_sandbox->running());
        const auto eaten = m_sandbox->init().run(
            m_sandbox->command({"python3", "-c", "import time\nb = b'x' * (600 << 20)\ntime.sleep(60)"}));
        QCOMPARE(eaten.error().code, std::string("sandbox.gone"));
        QTRY_VERIFY_WITH_TIMEOUT(!m_sandbox->running(), 30000);
        QCOMPARE(m_sandbox->endReason(), std::string("memory"));
    }

    void timeEnds()
    {
        m_request.spec.timeout = 1;
        QVERIFY(start());
        const auto slept = m_sandbox->init().run(m_sandbox->command({"sleep", "60"}));
        QCOMPARE(slept.error().code, std::string("sandbox.gone"));
        QCOMPARE(m_sandbox->endReason(), std::string("timeout"));
    }

    void whatIsNotOfferedIsRefusedByName_data()
    {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("field");
        QTest::newRow("docker") << R"({"docker_in_docker": true})"
                                << "docker_in_docker";
        QTest::newRow("gpu") << R"({"gpu": "A100"})"
                             << "gpu";
        QTest::newRow("python") << R"({"python_version": "3.12"})"
                                << "python_version";
        QTest::newRow("interpreter") << R"({"interpreter": "/bin/true"})"
                                     << "interpreter";
        QTest::newRow("file") << R"({"interpreter": "/usr/bin/python3", "local_files": [["none", "/w/x"]]})"
                              << "local_files";
        QTest::newRow("folder") << R"({"interpreter": "/usr/bin/python3", "local_dirs": [["none", "/w/x"]]})"
                                << "local_dirs";
    }

    void whatIsNotOfferedIsRefusedByName()
    {
        QFETCH(QString, json);
        QFETCH(QString, field);
        m_request.spec = *SandboxSpec::fromJson(*parseJson(json.toStdString()));
        QVERIFY(!start());
        QCOMPARE(QString::fromStdString(stringOr(m_error.data, "field")), field);
        std::error_code error;
        QVERIFY(!fs::exists(m_images.storeFolder() / "boxes" / m_request.id, error));
    }

    void twentyAtOnce()
    {
        std::vector<std::unique_ptr<LocalSandbox>> sandboxes;
        for (int i = 0; i < 20; ++i) {
            m_request.id = newId();
            QVERIFY2(start(), m_error.message.c_str());
            sandboxes.push_back(std::move(m_sandbox));
        }
        for (const auto& sandbox : sandboxes)
            QCOMPARE(sandbox->init().run(sandbox->shell("exit 5"))->code, 5);
    }

private:
    void write(const std::string& name, const std::string& text) const
    {
        std::error_code error;
        fs::create_directories((m_folder.path() / name).parent_path(), error);
        QVERIFY(writeFileAtomic(m_folder.path() / name, text).has_value());
    }

    bool start()
    {
        m_sandbox.reset();
        auto started = LocalSandbox::start(m_images, m_request, {});
        if (started)
            m_sandbox = std::move(*started);
        else
            m_error = started.error();
        return started.has_value();
    }

    QString shell(const std::string& script) const
    {
        const auto record = m_sandbox->init().run(m_sandbox->shell(script));
        return record ? QString::fromStdString(record->output + record->errors)
                      : QString::fromStdString(record.error().message);
    }

    TemporaryFolder m_folder;
    TemporaryFolder m_data;
    ImageStore m_images{m_data.path() / "sandboxes", buildTools()};
    StartRequest m_request;
    std::unique_ptr<LocalSandbox> m_sandbox;
    Error m_error;
};

QTEST_GUILESS_MAIN(TestLocalSandbox)
#include "tst_localsandbox.moc"
