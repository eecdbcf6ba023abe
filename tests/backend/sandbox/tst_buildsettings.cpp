// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <algorithm>

#include <sys/utsname.h>

#include <backend/base/files.h>
#include <backend/sandbox/local/buildsettings.h>
#include <backend/sandbox/local/packageindexes.h>
#include <backend/sandbox/local/torchbuild.h>

#include <tests/support/temporary.h>

using namespace gb;

class TestBuildSettings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatPipIsToldUvIsTold()
    {
        configure("[global]\nindex-url = https://one.test/simple\ntrusted-host = one.test two.test\n"
                  "timeout = 42\nretries = 7\nproxy = http://proxy.test:3128\nno-index = true\n"
                  "[install]\nfind-links =\n    ~/wheels\n    https://files.test/all\n");
        const auto env = read({}).env;
        const std::map<std::string, std::string> expected{{"UV_DEFAULT_INDEX", "https://one.test/simple"},
            {"UV_INSECURE_HOST", "one.test two.test"}, {"UV_HTTP_TIMEOUT", "42"}, {"UV_HTTP_RETRIES", "7"},
            {"http_proxy", "http://proxy.test:3128"}, {"https_proxy", "http://proxy.test:3128"},
            {"UV_NO_INDEX", "true"},
            {"UV_FIND_LINKS", (m_home.path() / "wheels").string() + ",https://files.test/all"}};
        for (const auto& [name, value] : expected)
            QCOMPARE(name + "=" + valueOf(env, name), name + "=" + value);
    }

    void theEnvironmentWins()
    {
        configure("[global]\nindex-url = https://one.test/simple\ntimeout = 42\n");
        const auto env = read({{"PIP_INDEX_URL", "https://mine.test"}, {"UV_HTTP_TIMEOUT", "5"}}).env;
        QCOMPARE(valueOf(env, "UV_DEFAULT_INDEX"), std::string("https://mine.test"));
        QCOMPARE(valueOf(env, "UV_HTTP_TIMEOUT"), std::string("5"));
    }

    void localFoldersAreShownReadOnly_data()
    {
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("bound");
        QTest::newRow("pip find-links") << "PIP_FIND_LINKS"
                                        << "HOME/wheels https://x.test"
                                        << "HOME/wheels";
        QTest::newRow("uv find-links") << "UV_FIND_LINKS"
                                       << "https://x.test,HOME/wheels/"
                                       << "HOME/wheels";
        QTest::newRow("extra index") << "PIP_EXTRA_INDEX_URL"
                                     << "file://HOME/index/simple"
                                     << "HOME/index";
        QTest::newRow("index") << "PIP_INDEX_URL"
                               << "file://HOME/index/simple/"
                               << "HOME/index";
    }

    void localFoldersAreShownReadOnly()
    {
        QFETCH(QString, variable);
        QFETCH(QString, value);
        QFETCH(QString, bound);
        const QString home = QString::fromStdString(m_home.path().string());
        configure("");
        std::vector<std::string> sources;
        for (const BindSpec& bind :
            read({{variable.toStdString(), value.replace("HOME", home).toStdString()}}).binds) {
            QVERIFY(!bind.writable);
            if (bind.source.starts_with(m_home.path().string())) {
                QCOMPARE(bind.target, bind.source);
                sources.push_back(bind.source);
            }
        }
        QCOMPARE(sources, std::vector{bound.replace("HOME", home).toStdString()});
    }

    void aCertificateOfOnesOwnComesAlong()
    {
        const std::string file = (m_home.path() / "company.pem").string();
        QVERIFY(writeFileAtomic(file, "x").has_value());
        configure("[global]\ncert = " + file + "\n");
        const BuildSettings settings = read({});
        QCOMPARE(valueOf(settings.env, "SSL_CERT_FILE"), std::string("/run/glovebox/ca.pem"));
        QVERIFY(std::ranges::any_of(settings.binds, [&](const BindSpec& bind) {
            return bind.source == file && bind.target == "/run/glovebox/ca.pem" && !bind.writable;
        }));
        // A clone runs outside.
        QCOMPARE(valueOf(environmentHere(settings), "GIT_SSL_CAINFO"), file);
    }

    void theProcessorsBuildOfTorchIsFound()
    {
        utsname about{};
        QCOMPARE(::uname(&about), 0);
        const fs::path folder = m_home.path() / "wheels";
        const std::string end = std::string("-manylinux_2_28_") + std::begin(about.machine) + ".whl";
        for (const std::string& name : {"torch-2.9.1+cpu-cp311-cp311" + end,
                 "torch-2.13.0+cpu-cp311-cp311" + end, "torch-2.14.0+cpu-cp313-cp313" + end,
                 "torch-2.15.0-cp311-cp311" + end, "torchvision-0.9.0+cpu-cp311-cp311" + end,
                 std::string("torch-3.0+cpu-cp311-cp311-other.whl")})
            QVERIFY(writeFileAtomic(folder / name, "").has_value());
        const std::map<std::string, std::string> env{{"UV_FIND_LINKS", folder.string()}};
        QCOMPARE(cpuTorchConstraints(env, "3.11"),
            (std::vector<std::string>{"torch==2.13.0+cpu", "torchvision==0.9.0+cpu"}));
        QCOMPARE(cpuTorchConstraints(env, "3.13"), std::vector<std::string>{"torch==2.14.0+cpu"});
        QVERIFY(cpuTorchConstraints({}, "3.11").empty());
    }

    void indexesOfOtherToolsAreReached()
    {
        const test::TemporaryFolder home;
        const auto write = [&](const char* name, const char* text) {
            QVERIFY(writeFileAtomic(home.path() / name, text).has_value());
        };
        const std::map<std::string, std::string> environment{{"HOME", home.path().string()},
            {"PIP_INDEX_URL", "https://pip.example/simple"},
            {"NPM_CONFIG_REGISTRY", "https://npm.example:4873/"},
            {"CONDA_CHANNELS", "bare-name,https://channel.example/free"}};
        write(".npmrc",
            "; registry=https://comment.example\n//npm.example/:_authToken=secret\n"
            "registry = \"https://file.example/npm\"\n@ours:registry=https://scope.example\n");
        write(".condarc",
            "proxy_servers:\n  https: http://proxy.example\nchannels:\n  - conda-forge\n"
            "  - https://one.example/a # https://comment.example\ncustom_channels: {x: "
            "https://two.example, y: \"https://three.example/y\"}\nssl_verify: http\n");
        SandboxSpec spec;
        const auto plan = planNetwork(spec, environment);
        QVERIFY(plan);
        std::vector<std::string> hosts;
        for (const NetworkPlace& place : plan->places)
            hosts.push_back(place.text());
        QCOMPARE(hosts,
            (std::vector<std::string>{"pip.example", "npm.example:4873", "file.example", "scope.example",
                "channel.example", "one.example", "two.example", "three.example"}));
        QCOMPARE(
            pipEnvironment(environment).at("NPM_CONFIG_REGISTRY"), std::string("https://npm.example:4873/"));
        spec.scoped = true;
        QVERIFY(!planNetwork(spec, environment)); // the control: it reaches nothing
    }

    void onesOwnProxyIsTakenOrNamed_data()
    {
        QTest::addColumn<QString>("url");
        QTest::addColumn<QString>("expected");
        QTest::newRow("plain") << "http://me:a%40b@proxy.example:3128"
                               << R"({"host":"proxy.example","port":3128,"credentials":"me:a@b"})";
        QTest::newRow("without a scheme") << "proxy.example:80"
                                          << R"({"host":"proxy.example","port":80})";
        QTest::newRow("socks") << "socks5h://proxy.example"
                               << R"({"host":"proxy.example","port":1080,"kind":"socks5"})";
        QTest::newRow("socks with a port")
            << "socks5://a:b@proxy.example:9"
            << R"({"host":"proxy.example","port":9,"kind":"socks5","credentials":"a:b"})";
        QTest::newRow("encrypted") << "https://proxy.example"
                                   << "HTTPS_PROXY";
        QTest::newRow("older socks") << "socks4://proxy.example"
                                     << "HTTPS_PROXY";
    }
    void onesOwnProxyIsTakenOrNamed()
    {
        QFETCH(QString, url);
        QFETCH(QString, expected);
        const auto plan = planNetwork(
            {}, {{"PIP_INDEX_URL", "https://pip.example/simple"}, {"HTTPS_PROXY", url.toStdString()}});
        QVERIFY(plan);
        const QString said = QString::fromStdString(plan->upstream.dump());
        QVERIFY2(said == expected || (said.contains("refused") && said.contains(expected)), qPrintable(said));
    }

private:
    void configure(const std::string& text)
    {
        std::error_code error;
        fs::create_directories(m_home.path() / ".config" / "pip", error);
        fs::create_directories(m_home.path() / "wheels", error);
        fs::create_directories(m_home.path() / "index" / "simple", error);
        QVERIFY(writeFileAtomic(m_home.path() / ".config" / "pip" / "pip.conf", text).has_value());
    }

    BuildSettings read(std::map<std::string, std::string> environment) const
    {
        environment["HOME"] = m_home.path().string();
        return readBuildSettings(environment);
    }

    static std::string valueOf(const std::map<std::string, std::string>& map, const std::string& name)
    {
        const auto found = map.find(name);
        return found == map.end() ? "" : found->second;
    }

    test::TemporaryFolder m_home;
};

QTEST_GUILESS_MAIN(TestBuildSettings)
#include "tst_buildsettings.moc"
