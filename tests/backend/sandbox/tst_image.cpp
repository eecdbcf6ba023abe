// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <cstdlib>
#include <iostream>

#include <sys/utsname.h>

#include <backend/base/clock.h>
#include <backend/base/ids.h>
#include <backend/sandbox/local/hostcommand.h>
#include <backend/sandbox/local/imagestore.h>
#include <backend/sandbox/local/localsandbox.h>

#include "ownpythonbox.h"

using namespace gb;
using namespace gb::test;

namespace {

std::map<std::string, std::string> environmentOfThisProcess()
{
    std::map<std::string, std::string> out;
    for (char** entry = environ; *entry; ++entry) {
        const std::string text = *entry;
        out[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
    return out;
}

// A base takes a minute to make and depends on nothing of ours, so one is kept beside the build.
fs::path sharedBase()
{
    return fs::path(GB_BIN_DIR) / ".." / "sandbox-base" / "bookworm.tar";
}

} // namespace

class TestImage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (::access("/usr/bin/mmdebstrap", X_OK) != 0)
            QSKIP("mmdebstrap is not installed");
        m_settings = readBuildSettings(environmentOfThisProcess());
        QVERIFY(m_images.prepare().has_value());
        // Who unpacks it has other ids and a /tmp of its own, and reaches the store, but not every checkout.
        std::error_code error;
        if (fs::copy_file(sharedBase(), m_images.storeFolder() / "shared-base.tar", error))
            m_settings.baseArchive = "shared-base.tar";
    }

    void aBaseIsMadeAndKept()
    {
        build(SandboxSpec());
        if (!m_settings.baseArchive.empty() || ::geteuid() != 0)
            return;
        std::error_code error;
        const auto packed = runMapped(m_images.storeFolder(),
            {"sh", "-c", "tar --numeric-owner -cpf base.tar -C images/layers/base-* ."}, buildTools());
        QVERIFY(packed && packed->code == 0);
        fs::create_directories(sharedBase().parent_path(), error);
        fs::rename(m_images.storeFolder() / "base.tar", sharedBase(), error);
        if (error) {
            fs::copy_file(m_images.storeFolder() / "base.tar", sharedBase().string() + ".new", error);
            fs::rename(sharedBase().string() + ".new", sharedBase(), error);
        }
        QVERIFY(!error);
    }

    void whatIsInABase()
    {
        auto sandbox = start(SandboxSpec());
        QVERIFY(sandbox);
        const auto version = sandbox->init().run(command({"/usr/bin/python3", "--version"}));
        QVERIFY2(version->output.starts_with("Python 3.11"), version->output.c_str());
        QCOMPARE(sandbox->init()
                     .run(shell("git --version >/dev/null && id -u && touch /etc/mine && ls /etc/mine"))
                     ->output,
            std::string("0\n/etc/mine\n"));
    }

    void systemPackagesAreALayerOfTheirOwn()
    {
        SandboxSpec spec;
        spec.systemPackages = {"hello"};
        QCOMPARE(build(spec), std::string("system packages"));
        QCOMPARE(build(spec), std::string());
        auto sandbox = start(spec);
        QVERIFY(sandbox);
        QCOMPARE(sandbox->init().run(command({"hello"}))->output, std::string("Hello, world!\n"));
        QVERIFY(!sandbox->init().stat("/usr/sbin/policy-rc.d").has_value());
        spec.systemPackages = {"no-such-package-anywhere"};
        const auto plan = m_images.plan(spec);
        const auto failed = m_images.build(*plan, m_settings, {});
        QCOMPARE(failed.error().code, std::string("sandbox.apt_failed"));
        QVERIFY(failed.error().message.find("no-such-package-anywhere") != std::string::npos);
    }

    void pythonPackagesAreHardLinksIntoTheCache()
    {
        SandboxSpec spec;
        spec.pythonPackages = {"six"};
        QCOMPARE(build(spec), std::string("Python packages"));
        auto sandbox = start(spec);
        QVERIFY(sandbox);
        ExecSpec exec = command(
            {"/opt/venv/bin/python", "-c", "import os, six; print(os.stat(six.__file__).st_nlink > 1)"});
        QCOMPARE(sandbox->init().run(exec)->output, std::string("True\n"));
        // What is written inside never reaches the shared file.
        exec.argv[2] = "import six; open(six.__file__, 'w').write('x = 1')";
        QCOMPARE(sandbox->init().run(exec)->code, 0);
        exec.argv[2] = "import six; print(hasattr(six, 'PY3'))";
        QCOMPARE(sandbox->init().run(exec)->output, std::string("False\n"));
        auto other = start(spec);
        QCOMPARE(other->init().run(exec)->output, std::string("True\n"));
        // A changed list rebuilds only its own layer.
        spec.pythonPackages = {"six", "packaging"};
        const auto begin = monotonicNs();
        QCOMPARE(build(spec), std::string("Python packages"));
        std::cout << "repackage_s " << double(monotonicNs() - begin) / 1e9 << '\n';
        spec.pythonPackages = {"no-such-package-anywhere-glovebox"};
        const auto failed = m_images.build(*m_images.plan(spec), m_settings, {});
        QCOMPARE(failed.error().code, std::string("sandbox.python_failed"));
    }

    void pipIsThereInAnImage()
    {
        for (const bool hasPackages : {true, false}) {
            StartRequest request;
            request.id = newId();
            request.build = m_settings;
            if (hasPackages)
                request.spec.pythonPackages = {"six"};
            auto sandbox = LocalSandbox::start(m_images, request, {});
            QVERIFY2(sandbox.has_value(), sandbox ? "" : sandbox.error().message.c_str());
            const auto run = [&](const std::string& script) {
                const auto record = (*sandbox)->init().run((*sandbox)->shell(script));
                return record ? QString::fromStdString(record->output + record->errors) : QString("failed");
            };
            QVERIFY2(run("pip --version").startsWith("pip "), qPrintable(run("pip --version")));
            QVERIFY(run("python3 -m pip --version").startsWith("pip "));
            QCOMPARE(run("pip list 2>/dev/null | grep -c '^six '"), QString(hasPackages ? "1\n" : "0\n"));
            QVERIFY(
                run("python3 - <<'E'\nimport zipfile\nz = "
                    "zipfile.ZipFile('/tmp/gbtiny-1.0-py3-none-any.whl', 'w')\n"
                    "i = 'gbtiny-1.0.dist-info/'\nz.writestr('gbtiny.py', 'answer = 42')\n"
                    "z.writestr(i + 'METADATA', 'Metadata-Version: 2.1\\nName: gbtiny\\nVersion: 1.0\\n')\n"
                    "z.writestr(i + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: "
                    "py3-none-any\\n')\n"
                    "z.writestr(i + 'RECORD', '')\nz.close()\nE")
                    .isEmpty());
            const QString installed = run("pip install --no-index /tmp/gbtiny-1.0-py3-none-any.whl && "
                                          "python3 -c 'import gbtiny; print(gbtiny.answer)'");
            QVERIFY2(installed.contains("\n42\n"), qPrintable(installed));
            (void)(*sandbox)->remove();
        }
    }

    void sourceDistributionsSeeNoSharedCache()
    {
        // Its build code looks for the shared cache and leaves a note in what it builds.
        const fs::path folder = m_store.beside() / "sources";
        const fs::path package = m_store.beside() / "glovebox_nosy_probe-1.0";
        std::error_code error;
        fs::create_directories(package, error);
        fs::create_directories(folder, error);
        fs::permissions(m_store.beside(), fs::perms(0755), error);
        QVERIFY(writeFileAtomic(package / "setup.py",
            "import os\nfrom setuptools import setup\n"
            "open('nosy.py', 'w').write('seen = %r\\nbuilt = True\\n' % os.path.exists('/mnt/images'))\n"
            "setup(name='glovebox-nosy-probe', version='1.0', py_modules=['nosy'])\n"));
        QVERIFY(writeFileAtomic(
            package / "PKG-INFO", "Metadata-Version: 2.1\nName: glovebox-nosy-probe\nVersion: 1.0\n"));
        QCOMPARE(std::system(("tar -C " + m_store.beside().string() + " -czf "
                     + (folder / "glovebox_nosy_probe-1.0.tar.gz").string() + " glovebox_nosy_probe-1.0")
                                 .c_str()),
            0);
        SandboxSpec spec;
        spec.pythonPackages = {"glovebox-nosy-probe"};
        BuildSettings settings = m_settings;
        settings.env["UV_FIND_LINKS"] += (settings.env["UV_FIND_LINKS"].empty() ? "" : ",") + folder.string();
        settings.binds.push_back({folder.string(), folder.string()});
        const auto plan = m_images.plan(spec);
        const auto built = m_images.build(*plan, settings, {});
        QVERIFY2(built.has_value(), built ? "" : built.error().message.c_str());
        auto sandbox = start(spec);
        const auto told = sandbox->init().run(
            command({"/opt/venv/bin/python", "-c", "import nosy; print(nosy.built, nosy.seen)"}));
        QCOMPARE(QString::fromStdString(told->output + told->errors), QString("True False\n"));
    }

    void withoutAGpuTorchIsTheProcessorsBuild()
    {
        // Wheels of nothing but a version: the newer one stands for the build full of a GPU's libraries.
        const fs::path folder = m_store.beside() / "wheels";
        std::error_code error;
        fs::create_directories(folder, error);
        fs::permissions(m_store.beside(), fs::perms(0755), error);
        makeTorch(folder, "9.9.0", "py3-none-any");
        makeTorch(folder, "9.8.0+cpu", "cp311-cp311-manylinux_2_28_" + machine());
        BuildSettings settings = m_settings;
        settings.env["UV_FIND_LINKS"] = folder.string();
        settings.env["UV_NO_INDEX"] = "true";
        settings.binds.push_back({folder.string(), folder.string()});
        SandboxSpec spec;
        spec.pythonPackages = {"torch"};
        auto plan = m_images.plan(spec);
        plan->back().cpuTorch = true; // also where the tests have a GPU
        const auto built = m_images.build(*plan, settings, {});
        QVERIFY2(built.has_value(), built ? "" : built.error().message.c_str());
        const ExecSpec ask =
            command({"/opt/venv/bin/python", "-c", "import torch; print(torch.__version__)"});
        QCOMPARE(start(*plan)->init().run(ask)->output, std::string("9.8.0+cpu\n"));
        // The control: where a GPU is, the newest wins.
        plan->back().cpuTorch = false;
        plan->back().key += "-gpu";
        plan->back().present = false;
        QVERIFY(m_images.build(*plan, settings, {}).has_value());
        QCOMPARE(start(*plan)->init().run(ask)->output, std::string("9.9.0\n"));
    }

    void layersAreListedAndCollected()
    {
        const auto records = m_images.list();
        QVERIFY(records.size() >= 4);
        for (const LayerRecord& record : records)
            QVERIFY2(record.bytes > 0 && record.builtAt > 0, record.key.c_str());
        SandboxSpec spec;
        spec.systemPackages = {"hello"};
        const auto plan = m_images.plan(spec);
        const auto removed = m_images.collect({plan->back().key});
        QVERIFY(removed.has_value());
        QCOMPARE(m_images.list().size(), std::size_t(2)); // the layer and the base it stands on
        QCOMPARE(build(spec), std::string());
    }

    void aVersionWithoutAnImageIsAFieldError()
    {
        SandboxSpec spec;
        spec.pythonVersion = "3.12";
        const auto plan = m_images.plan(spec);
        QCOMPARE(plan.error().data["field"].get<std::string>(), std::string("python_version"));
    }

    void aBuildCanBeCancelled()
    {
        SandboxSpec spec;
        spec.systemPackages = {"sl"};
        BuildProgress progress;
        progress.isCancelled = [] { return true; };
        QCOMPARE(m_images.build(*m_images.plan(spec), m_settings, progress).error().code,
            std::string("cancelled"));
    }

    void cleanupTestCase()
    {
        // Its files belong to other ids.
        (void)runMapped(m_images.storeFolder(), {"sh", "-c", "chmod -R u+rwX . ; rm -rf ./*"}, buildTools());
    }

private:
    // Titles of the layers that had to be built.
    std::string build(const SandboxSpec& spec)
    {
        const auto plan = m_images.plan(spec);
        std::string missing;
        for (const LayerPlan& layer : *plan)
            missing += layer.present ? "" : (missing.empty() ? "" : ", ") + layer.title;
        BuildProgress progress;
        std::string output;
        progress.onOutput = [&](std::string_view text) { output += text; };
        const auto built = m_images.build(*plan, m_settings, progress);
        return built ? missing : built.error().message + output.substr(0, 2000);
    }

    static std::string machine()
    {
        utsname about{};
        ::uname(&about);
        return std::begin(about.machine);
    }

    static void makeTorch(const fs::path& folder, const std::string& version, const std::string& tags)
    {
        const std::string code =
            "import sys, zipfile\nfolder, version, tags = sys.argv[1:]\n"
            "info = f'torch-{version}.dist-info'\n"
            "with zipfile.ZipFile(f'{folder}/torch-{version}-{tags}.whl', 'w') as w:\n"
            "    w.writestr('torch.py', f'__version__ = {version!r}')\n"
            "    w.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\\nName: torch\\n'"
            " f'Version: {version}\\n')\n"
            "    w.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n'"
            " f'Tag: {tags}\\n')\n"
            "    w.writestr(f'{info}/RECORD', '')\n";
        const auto made =
            runHostCommand({"/usr/bin/python3", "-c", code, folder.string(), version, tags}, {});
        QVERIFY2(made && made->code == 0, made ? made->errors.c_str() : made.error().message.c_str());
    }

    std::unique_ptr<RunningSandbox> start(const SandboxSpec& spec) { return start(*m_images.plan(spec)); }

    std::unique_ptr<RunningSandbox> start(const std::vector<LayerPlan>& layers)
    {
        LaunchSpec launch;
        launch.store = m_images.storeFolder();
        launch.lowers = ImageStore::lowers(layers);
        launch.upper = "boxes/box" + std::to_string(++m_boxes) + "/upper";
        launch.work = launch.upper + ".work";
        launch.folders = {launch.upper, launch.work, launch.upper + "/workspace"};
        launch.tmpfs = {{"/tmp", 64L << 20, 01777}, {"/run", 16L << 20, 0755}};
        auto sandbox = launchSandbox(launch, buildTools());
        if (!sandbox)
            std::cout << sandbox.error().message << '\n';
        return sandbox ? std::move(*sandbox) : nullptr;
    }

    TemporaryStore m_store;
    ImageStore m_images{m_store.beside() / "images", buildTools()};
    BuildSettings m_settings;
    int m_boxes = 0;
};

QTEST_GUILESS_MAIN(TestImage)
#include "tst_image.moc"
