// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <backend/domain/sandboxspec.h>

#include "specfixtures.h"

using namespace gb;

class TestSandboxSpec : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theOriginalsDefaults()
    {
        const auto spec = SandboxSpec::fromJson(Json::object());
        QVERIFY(spec.has_value());
        QCOMPARE(spec->pythonVersion, std::string("3.11"));
        QCOMPARE(spec->rpcTimeout, 600);
        QCOMPARE(spec->waitTimeout, 300);
        QCOMPARE(spec->notebookPackages.size(), std::size_t(17));
        QVERIFY(!spec->timeout && !spec->jupyterPort && !spec->rpcPort && !spec->debugPort);
        QCOMPARE(spec->executionMode, ExecutionMode::Cli);
        for (const char* name : {"python_packages", "system_packages", "python_version", "gpu", "gpu_count",
                 "docker_in_docker", "execution_mode", "debug", "timeout", "secrets", "env",
                 "encrypted_ports", "jupyter_port", "rpc_port", "debug_port", "rpc_timeout", "wait_timeout",
                 "notebook_packages", "models", "repos", "local_files", "local_dirs"})
            QVERIFY2(spec->toJson().contains(name), name);
        QCOMPARE(spec->toJson().size(), sandboxSpecFields().size());
    }

    void everythingRoundTrips()
    {
        const auto json = parseJson(test::fullSpec);
        QVERIFY(json.has_value());
        const auto spec = SandboxSpec::fromJson(*json);
        QVERIFY2(spec.has_value(), spec ? "" : spec.error().message.c_str());
        QCOMPARE(spec->memory, std::int64_t(8) << 30);
        QCOMPARE(spec->models[1].baseModel, std::string("o/base"));
        QCOMPARE(spec->repos[1].folderName(), std::string("b"));
        QCOMPARE(spec->unknown.dump(), std::string(R"({"colour":"green"})"));
        const auto again = SandboxSpec::fromJson(spec->toJson());
        QVERIFY(again.has_value());
        QVERIFY(*again == *spec);
    }

    void bothSpellingsOfAModelsVariable()
    {
        ModelSpec model;
        model.name = "google/gemma-2.5";
        QCOMPARE(model.variable(), std::string("MODEL_GOOGLE_GEMMA_2_5_PATH"));
        QCOMPARE(model.originalVariable(), std::string("MODEL_GOOGLE_GEMMA_2.5_PATH"));
    }

    void badSpecsNameTheFieldAndTheFix_data()
    {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("fix");
        for (const auto& bad : test::badSpecs)
            QTest::newRow(bad.json) << QString(bad.json) << QString(bad.field) << QString(bad.fix);
    }

    void badSpecsNameTheFieldAndTheFix()
    {
        QFETCH(QString, json);
        QFETCH(QString, field);
        QFETCH(QString, fix);
        const auto parsed = parseJson(json.toStdString());
        QVERIFY2(parsed.has_value(), qPrintable(json));
        const auto spec = SandboxSpec::fromJson(*parsed);
        QVERIFY(!spec.has_value());
        QCOMPARE(spec.error().code, std::string("spec.invalid"));
        bool found = false;
        for (const Json& problem : spec.error().data["problems"]) {
            found = found
                || (stringOr(problem, "field") == field.toStdString()
                    && stringOr(problem, "fix").find(fix.toStdString()) != std::string::npos);
        }
        QVERIFY2(found, spec.error().data.dump(1).c_str());
    }

    void aMisspeltKeyIsAWarningAndKept()
    {
        const auto spec = SandboxSpec::fromJson(Json{{"gpu_cuont", 2}, {"gpu", "A100:2"}});
        QVERIFY(!spec.has_value());
        const std::string all = spec.error().data.dump();
        QVERIFY(all.find("did you mean gpu_count?") != std::string::npos);
        QVERIFY(all.find("\"severity\":\"warning\"") != std::string::npos);
    }

    void sizes()
    {
        QCOMPARE(*parseBytes("1.5 GiB"), std::int64_t(1536) << 20);
        QCOMPARE(*parseBytes("512MB"), std::int64_t(512000000));
        QCOMPARE(*parseBytes("42"), std::int64_t(42));
        for (const char* bad : {"", "GB", "1 XB", "-1", "1..5", "1e400", "99999999 TB"})
            QVERIFY2(!parseBytes(bad).has_value(), bad);
    }
};

QTEST_GUILESS_MAIN(TestSandboxSpec)
#include "tst_sandboxspec.moc"
