// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <algorithm>

#include <backend/base/ids.h>
#include <backend/sandbox/local/gpuaccess.h>
#include <backend/sandbox/local/localsandbox.h>

#include "ownpythonbox.h"

using namespace gb;
using namespace gb::test;

// A machine with two GPUs, made of files: their devices are links to /dev/null, which every machine has.
class TestGpuAccess : public QObject
{
    Q_OBJECT

    fs::path machine() const { return m_folder->path() / "machine"; }
    void write(const std::string& name, const std::string& text, unsigned mode = 0644) const
    {
        const fs::path path = machine() / name;
        fs::create_directories(path.parent_path());
        QVERIFY(writeFileAtomic(path, text, mode).has_value());
    }
    void device(const std::string& name) const
    {
        fs::create_directories(machine() / "dev");
        fs::create_symlink("/dev/null", machine() / "dev" / name);
    }
    void cards() const
    {
        for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-caps"})
            device(name);
        write("proc/driver/nvidia/gpus/a/information", "Model: \t\t NVIDIA L4\nDevice Minor: \t 0\n");
        write("proc/driver/nvidia/gpus/b/information", "Model: \t\t NVIDIA A100-SXM4\nDevice Minor: \t 1\n");
    }
    GpuPlaces places() const
    {
        return {machine(), (machine() / "ctk").string(), (machine() / "ldconfig").string()};
    }
    static std::string cdi()
    {
        return R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [
            {"name": "all", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}, {"path": "/dev/nvidia1"}]}},
            {"name": "1", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia1"}]}},
            {"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}, {"path": "/dev/dri/none"}]}},
            {"name": "GPU-aa", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}]}}],
          "containerEdits": {"env": ["NVIDIA_VISIBLE_DEVICES=void"],
            "deviceNodes": [{"path": "/dev/nvidiactl"}, {"path": "/dev/../etc/passwd", "hostPath": "/dev/nvidiactl"}],
            "mounts": [{"hostPath": "/lib/libcuda.so.550.1", "containerPath": "/opt/driver/libcuda.so.550.1"},
                       {"hostPath": "/run/socket", "containerPath": "/run/socket"},
                       {"hostPath": "/gone", "containerPath": "/gone"}],
            "hooks": [{"args": ["nvidia-cdi-hook", "update-ldcache", "--folder", "/opt/driver/more"]},
                      {"args": ["nvidia-cdi-hook", "create-symlinks", "--link",
                                "libcuda.so.1::/opt/driver/libcuda.so"]}]}})";
    }
    void driver() const
    {
        write("lib/libcuda.so.550.1", "library");
        fs::create_symlink("libcuda.so.550.1", machine() / "lib" / "libcuda.so.1");
    }
    static std::vector<std::string> targets(const std::vector<BindSpec>& binds)
    {
        std::vector<std::string> all;
        for (const BindSpec& bind : binds)
            all.push_back(bind.target);
        std::ranges::sort(all);
        return all;
    }
    static Result<GpuShare> choose(const GpusHere& here, const std::string& type, int count,
        const std::map<std::string, std::string>& environment = {})
    {
        SandboxSpec spec;
        spec.gpu = type;
        spec.gpuCount = count;
        return chooseGpus(here, spec, environment);
    }

    using Names = std::vector<std::string>;

private Q_SLOTS:
    void init() { m_folder = std::make_unique<TemporaryFolder>(); }

    void aMachineWithoutOnesSaysSo()
    {
        const GpusHere here = findGpus(places());
        QVERIFY(here.way == GpusHere::Way::None && here.devices.empty());
        const auto refused = choose(here, "A100", 1);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, std::string("spec.invalid"));
        QCOMPARE(stringOr(refused.error().data, "field"), std::string("gpu"));
    }

    void aSpecificationIsRead()
    {
        cards();
        driver();
        write("etc/cdi/nvidia.json", cdi());
        const GpusHere here = findGpus(places());
        QVERIFY(here.way == GpusHere::Way::Cdi);
        QCOMPARE(here.devices.size(), std::size_t(2));
        QCOMPARE(here.devices[1].model, std::string("NVIDIA A100-SXM4"));
        const auto one = choose(here, "a100", 1);
        QVERIFY(one);
        QCOMPARE(targets(one->devices), (Names{"/dev/nvidia1", "/dev/nvidiactl"}));
        QVERIFY(std::ranges::all_of(one->devices, [](const BindSpec& bind) { return bind.device; }));
        // Neither a place outside /dev, nor what is not there, nor a socket.
        QCOMPARE(targets(one->files), (Names{"/opt/driver/libcuda.so.550.1"}));
        QCOMPARE(one->environment.at("NVIDIA_VISIBLE_DEVICES"), std::string("void"));
        QCOMPARE(one->libraryFolders, (Names{"/opt/driver", "/opt/driver/more"}));
        QCOMPARE(one->links.size(), std::size_t(2));
        QCOMPARE(one->links[0].at, std::string("/opt/driver/libcuda.so.1"));
        QCOMPARE(one->links[1].to, std::string("libcuda.so.1"));
    }

    void oneInYamlIsAskedForInJson()
    {
        cards();
        write("etc/cdi/nvidia.yaml", "kind: nvidia.com/gpu\n");
        QVERIFY(findGpus(places()).way == GpusHere::Way::DeviceFiles); // nobody answers
        write("answer", cdi());
        write("ctk",
            "#!/bin/sh\n[ \"$*\" = 'cdi generate --format=json' ] && cat " + (machine() / "answer").string()
                + "\n",
            0755);
        const GpusHere here = findGpus(places());
        QVERIFY(here.way == GpusHere::Way::Cdi);
        QVERIFY(here.source.ends_with("nvidia.yaml"));
    }

    void withoutOneTheDriversFilesAreTaken()
    {
        cards();
        driver();
        const std::string library = (machine() / "lib/libcuda.so.1").string();
        write("ldconfig",
            "#!/bin/sh\nprintf '\\tlibcuda.so.1 (libc6) => /nowhere\\n\\tlibcuda.so.1 "
            "(libc6,x86-64) => "
                + library + "\\n\\tlibc.so.6 (libc6,x86-64) => /nowhere\\n'\n",
            0755);
        write("usr/bin/nvidia-smi", "#!/bin/sh\n", 0755);
        const GpusHere here = findGpus(places());
        QVERIFY(here.way == GpusHere::Way::DeviceFiles);
        const auto one = choose(here, "any", 1);
        QVERIFY(one);
        QCOMPARE(targets(one->devices), (Names{"/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"}));
        QCOMPARE(
            targets(one->files), (Names{"/usr/local/bin/nvidia-smi", "/usr/local/nvidia/lib/libcuda.so.1"}));
        QCOMPARE(fs::path(one->files[0].source).filename().string(), std::string("libcuda.so.550.1"));
        QCOMPARE(one->libraryFolders, (Names{"/usr/local/nvidia/lib"}));
    }

    void thePersonsChoiceCounts_data()
    {
        QTest::addColumn<QString>("visible");
        QTest::addColumn<int>("count");
        QTest::addColumn<QString>("first");
        QTest::newRow("second only") << "1" << 1 << "/dev/nvidia1";
        QTest::newRow("another order") << "1,0" << 2 << "/dev/nvidia1";
        QTest::newRow("none") << "" << 0 << "";
        QTest::newRow("none by number") << "-1" << 0 << "";
        QTest::newRow("up to one that is not there") << "0,7,1" << 1 << "/dev/nvidia0";
    }
    void thePersonsChoiceCounts()
    {
        QFETCH(QString, visible);
        QFETCH(int, count);
        QFETCH(QString, first);
        cards();
        const GpusHere here = findGpus(places());
        const std::map<std::string, std::string> environment{{"CUDA_VISIBLE_DEVICES", visible.toStdString()}};
        QVERIFY(!choose(here, "any", count + 1, environment));
        const auto share = choose(here, "any", count, environment);
        QVERIFY(share);
        const std::size_t common = here.common.devices.size();
        QCOMPARE(share->devices.size(), common + static_cast<std::size_t>(count));
        if (count > 0)
            QCOMPARE(share->devices[common].target, first.toStdString());
    }

    void aClosedDeviceIsNotPromised()
    {
        cards();
        fs::remove(machine() / "dev/nvidia0");
        write("dev/nvidia0", "no device");
        const GpusHere here = findGpus(places());
        QCOMPARE(here.devices.size(), std::size_t(1));
        QVERIFY(!here.trouble.empty());
        QVERIFY(!choose(here, "any", 2));
    }

    void onlyWhatWasAskedForIsInside()
    {
        cards();
        const auto share = choose(findGpus(places()), "A100", 1);
        QVERIFY(share);
        const fs::path folder = m_folder->path() / "images";
        const ImageStore images(folder, buildTools());
        const auto seen = [&](const std::optional<GpuShare>& gpu) {
            StartRequest request;
            request.id = newId();
            request.spec.interpreter = "/usr/bin/python3";
            request.spec.gpu = gpu ? "A100" : "";
            request.gpu = gpu;
            auto sandbox = LocalSandbox::start(images, std::move(request), {});
            if (!sandbox)
                return QString::fromStdString(sandbox.error().message);
            const auto ran = (*sandbox)->init().run((*sandbox)->shell(
                "ls /dev | grep nvidia; for d in 0 1; do "
                "[ -c /dev/nvidia$d ] && echo x > /dev/nvidia$d && echo used $d; done; true"));
            (void)(*sandbox)->remove();
            return QString::fromStdString(ran ? ran->output : ran.error().message);
        };
        QCOMPARE(seen(*share), QString("nvidia-uvm\nnvidia1\nnvidiactl\nused 1\n"));
        QCOMPARE(seen(std::nullopt), QString());
        (void)runMapped(images.storeFolder(), {"sh", "-c", "chmod -R u+rwX . ; rm -rf ./*"}, buildTools());
    }

private:
    std::unique_ptr<TemporaryFolder> m_folder;
};

QTEST_GUILESS_MAIN(TestGpuAccess)
#include "tst_gpuaccess.moc"
