// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <backend/settings/settings.h>
#include <tests/support/temporary.h>

using namespace gb;

class TestSettings : public QObject
{
    Q_OBJECT

    static std::string codeOf(const Status& status) { return status ? "ok" : status.error().code; }

private Q_SLOTS:
    void everyItemHasAValidDefaultAndADescription()
    {
        const test::TemporaryFolder folder;
        auto settings = Settings::open(folder.path() / "settings.json");
        QVERIFY(settings.has_value());
        for (const SettingItem& item : settingItems()) {
            const auto described = settings->describe(item.key);
            QVERIFY(described.has_value());
            QVERIFY(!stringOr(*described, "description").empty());
            // A default that its own check refuses could be neither restored nor stored.
            QCOMPARE(codeOf(settings->set(item.key, (*described)["default"])), std::string("ok"));
        }
        QCOMPARE(settings->list().size(), settingItems().size());
    }

    void valuesAreCheckedStoredAndRestored()
    {
        const test::TemporaryFolder folder;
        const fs::path file = folder.path() / "settings.json";
        auto settings = Settings::open(file);
        QCOMPARE(codeOf(settings->set("window.theme", "dark")), std::string("ok"));
        QCOMPARE(codeOf(settings->set("window.theme", "system|light")), std::string("settings.value"));
        QCOMPARE(codeOf(settings->set("daemon.idle_exit_s", -1)), std::string("settings.value"));
        QCOMPARE(codeOf(settings->set("daemon.idle_exit_s", "5")), std::string("settings.value"));
        QCOMPARE(codeOf(settings->set("no.such", 1)), std::string("settings.unknown"));
        QCOMPARE(Settings::open(file)->text("window.theme"), std::string("dark"));
        QCOMPARE(codeOf(settings->set("window.theme", nullptr)), std::string("ok"));
        QCOMPARE(Settings::open(file)->text("window.theme"), std::string("system"));
    }

    void whatIsNotKnownSurvives()
    {
        const test::TemporaryFolder folder;
        const fs::path file = folder.path() / "settings.json";
        QVERIFY(writeFileAtomic(file, R"({"of.a.newer.version":[1,2],"window.theme":42})").has_value());
        auto settings = Settings::open(file);
        QCOMPARE(settings->text("window.theme"), std::string("system"));
        QVERIFY(settings->set("daemon.idle_exit_s", 5).has_value());
        const auto stored = parseJson(*readFile(file));
        QCOMPARE((*stored)["of.a.newer.version"].dump(), std::string("[1,2]"));
        QCOMPARE((*stored)["daemon.idle_exit_s"].dump(), std::string("5"));
    }

    void aBrokenFileIsRefusedAndKept()
    {
        const test::TemporaryFolder folder;
        const fs::path file = folder.path() / "settings.json";
        QVERIFY(writeFileAtomic(file, "{ half").has_value());
        const auto settings = Settings::open(file);
        QVERIFY(!settings.has_value());
        QCOMPARE(settings.error().code, std::string("settings.broken"));
        QCOMPARE(*readFile(file), std::string("{ half"));
    }
};

QTEST_GUILESS_MAIN(TestSettings)
#include "tst_settings.moc"
