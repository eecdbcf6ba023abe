// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <set>

#include <backend/base/ids.h>

#include <backend/sandbox/local/isolationproof.h>
#include <backend/sandbox/local/localprovider.h>

#include "ownpythonbox.h"

using namespace gb;
using namespace gb::test;

// What the daemon tries before it starts sandboxes, on a machine that isolates and on one that only seems to.
class TestIsolationProof : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everythingIsDeniedInsideAndPossibleOutside()
    {
        const fs::path store = m_folder.path() / "store";
        QVERIFY(prepareStore(store).has_value());
        const IsolationProof proof = tryIsolation(m_folder.path() / "bait", store, buildTools());
        QVERIFY2(proof.isPassed(), proof.failure.c_str());
        std::set<std::string> names;
        for (const IsolationCheck& check : proof.checks) {
            QVERIFY2(check.isGood(), check.name.c_str());
            names.insert(check.name);
        }
        for (const char* name : {"files", "writing", "processes", "network", "process 1", "namespaces"})
            QVERIFY2(names.contains(name), name);
        QCOMPARE(proof.kernel, kernelHere());
        QVERIFY(!proof.bwrap.empty());
        std::error_code error;
        QVERIFY(!fs::exists(m_folder.path() / "bait", error));
    }

    void aMachineThatDoesNotIsolateIsFound()
    {
        const fs::path store = m_folder.path() / "store";
        QVERIFY(prepareStore(store).has_value());
        const IsolationProof proof =
            tryIsolation(m_folder.path() / "bait", store, openTools(m_folder.path() / "bait"));
        QVERIFY(!proof.isPassed());
        for (const char* name : {"files", "processes", "network"})
            QVERIFY2(
                proof.failure.find(std::string(name) + " can be reached from inside") != std::string::npos,
                proof.failure.c_str());
        // The folder that is shown was shown read-only; only root finds another that is not.
        QCOMPARE(proof.failure.find("writing") != std::string::npos, ::access("/usr", W_OK) == 0);
    }

    void nothingStartsWithoutProof()
    {
        const fs::path data = m_folder.path() / "data";
        QVERIFY(ensurePrivateDir(data).has_value());
        LocalProvider open(options(data, openTools(data / "isolation")));
        const SandboxCapabilities can = open.capabilities({});
        QVERIFY(!can.available);
        QVERIFY2(
            can.reason.find("files can be reached from inside") != std::string::npos, can.reason.c_str());
        QVERIFY(!boolOr(record(data), "passed", true));
        SandboxRequest request;
        request.id = newId();
        request.spec.interpreter = "/usr/bin/python3";
        request.spec.scoped = true;
        const auto plan = open.plan(request);
        QVERIFY(plan.has_value() && !plan->isPossible());
        // The control: the same with the real programs.
        LocalProvider real(options(data, buildTools()));
        real.prepare();
        QVERIFY(real.capabilities({}).available);
        QVERIFY(real.plan(request)->isPossible());
        QVERIFY(boolOr(record(data), "passed", false));
        QCOMPARE(stringOr(record(data), "kernel"), kernelHere());
    }

private:
    static LocalProvider::Options options(const fs::path& data, const LaunchTools& tools)
    {
        LocalProvider::Options options;
        options.dataFolder = data;
        options.tools = tools;
        return options;
    }

    static Json record(const fs::path& data)
    {
        auto json = parseJson(readFile(data / "isolation.json").value_or("{}"));
        return json ? std::move(*json) : Json::object();
    }

    // Starts the same program with everything of this machine around it.
    LaunchTools openTools(const fs::path& bait) const
    {
        LaunchTools tools = buildTools();
        const fs::path script = m_folder.path() / "open-launcher";
        const std::string text = "#!/bin/sh\nexec bwrap --dev-bind / / --tmpfs /run --ro-bind '"
            + (bait / "shown").string() + "' /run/glovebox/shown " + tools.init.string() + " 4\n";
        constexpr unsigned executable = 0755;
        if (!writeFileAtomic(script, text, executable))
            qFatal("cannot write the launcher");
        tools.launcher = script;
        return tools;
    }

    TemporaryFolder m_folder;
};

QTEST_GUILESS_MAIN(TestIsolationProof)
#include "tst_isolationproof.moc"
