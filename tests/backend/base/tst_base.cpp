// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QTest>

#include <set>

#include <backend/base/clock.h>
#include <backend/base/concealer.h>
#include <backend/base/files.h>
#include <backend/base/hash.h>
#include <backend/base/ids.h>
#include <backend/base/json.h>
#include <backend/base/nearest.h>
#include <backend/base/paths.h>
#include <backend/base/shellword.h>
#include <tests/support/temporary.h>

using namespace gb;

class TestBase : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void wordsForAShell()
    {
        QCOMPARE(shellWord("demo-1"), std::string("demo-1"));
        QCOMPARE(shellWord("my sandbox"), std::string("'my sandbox'"));
        QCOMPARE(shellWord("it's $(x)"), std::string("'it'\\''s $(x)'"));
        QCOMPARE(shellWord(""), std::string("''"));
    }

    void mistypedNames()
    {
        const std::vector<std::string> known{"steer", "layer_norms", "generate"};
        QCOMPARE(nearestName("stear", known), std::string("steer"));
        QCOMPARE(nearestName("layer_norm", known), std::string("layer_norms"));
        QCOMPARE(nearestName("genreate", known), std::string("generate"));
        QCOMPARE(nearestName("unembed", known), std::string());
        QCOMPARE(nearestName("", known), std::string());
        QCOMPARE(nearestName(std::string(1'000'000, 's'), known), std::string());
        QCOMPARE(namesHint("stear", known), std::string("; did you mean \"steer\"?"));
        QCOMPARE(namesHint("x", known), std::string("; there are steer, layer_norms and generate"));
        QCOMPARE(namesHint("x", {"steer"}), std::string("; there is only steer"));
        QCOMPARE(namesHint("x", {}), std::string());
        const std::vector<std::string> many(20, "f");
        QCOMPARE(namesHint("zzz", many), std::string("; there are f, f, f, f, f, f, f, f and 12 more"));
    }

    void namesAreConcealed_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        QTest::newRow("whole") << "see Acme/Cat-7b."
                               << "see x_1.";
        QTest::newRow("escaped") << R"({"a":"acme\/cat-7B"})"
                                 << R"({"a":"x_1"})";
        QTest::newRow("paths") << "/m/models--acme--cat-7b/acme_cat-7b/acme%2Fcat-7b"
                               << "/m/models--x_1/x_1/x_1";
        QTest::newRow("variable") << "MODEL_ACME_CAT_7B_PATH"
                                  << "MODEL_x_1_PATH";
        QTest::newRow("word") << "Cat-7b, (cat-7B) cat_7b"
                              << "x_1, (x_1) x_1";
        QTest::newRow("in a word") << "tomcat-7b cat-7bx"
                                   << "tomcat-7b cat-7bx";
        QTest::newRow("escapes") << R"("\ncat-7b\u00e9cat-7b\\ncat-7b")"
                                 << R"("\nx_1\u00e9x_1\\ncat-7b")";
        QTest::newRow("other") << "acme cat 7b opt"
                               << "acme cat 7b opt";
        QTest::newRow("short names only whole") << "tiny/opt opt option"
                                                << "x_2 opt option";
    }

    void namesAreConcealed()
    {
        QFETCH(QString, text);
        QFETCH(QString, expected);
        Concealer concealer;
        QVERIFY(concealer.isEmpty());
        concealer.add("acme/Cat-7b", "x_1");
        concealer.add("tiny/opt", "x_2");
        QCOMPARE(QString::fromStdString(concealer.conceal(text.toStdString())), expected);
        QCOMPARE(concealer.finds(text.toStdString()), text != expected);
        QCOMPARE(
            QString::fromStdString(concealer.conceal("cat-7b", Concealer::Names::Whole)), QString("cat-7b"));
    }

    void jsonKeepsOrderAndRefusesAttacks()
    {
        const auto good = parseJson(R"({"b":1,"a":[1,{"c":null}]})");
        QVERIFY(good.has_value());
        QCOMPARE(good->dump(), std::string(R"({"b":1,"a":[1,{"c":null}]})"));

        const auto code = [](const std::string& text) {
            const auto parsed = parseJson(text);
            return parsed ? std::string("accepted") : parsed.error().code;
        };
        QCOMPARE(code(std::string(64, '[') + std::string(64, ']')), std::string("accepted"));
        QCOMPARE(code(std::string(65, '[') + std::string(65, ']')), std::string("json.too_deep"));
        QCOMPARE(code(std::string(1 << 20, '[')), std::string("json.too_deep"));
        QCOMPARE(code(R"({"a":1,"a":2})"), std::string("json.duplicate_key"));
        QCOMPARE(code("{} trailing"), std::string("json.syntax"));
        QCOMPARE(code("{\"a\":\"\xff\"}"), std::string("json.syntax"));
        std::string many = "{";
        for (int i = 0; i < 5000; ++i)
            many += "\"k" + std::to_string(i) + "\":1,";
        many.back() = '}';
        QCOMPARE(code(many), std::string("json.too_many_keys"));
    }

    void jsonIsReadAsTheLibraryReadsIt()
    {
        std::string members;
        for (int i = 0; i < 40; ++i)
            members += ",\"k" + std::to_string(i) + "\":" + std::to_string(i - 20);
        const std::string large = "{\"text\":\"" + std::string(3U << 20U, 'x') + "\"" + members + "}";
        const std::string medium = "{\"text\":\"x\"" + members + "}";
        for (const std::string& text : {std::string("0"), std::string("-0"),
                 std::string("-9223372036854775808"), std::string("18446744073709551615"),
                 std::string("18446744073709551616"), std::string("1e2"), std::string("0.1"),
                 std::string("5e-324"), std::string("1.7976931348623157e308"), std::string("true"),
                 std::string("null"), std::string("\"\""), std::string(R"("\u0000\ud83d\ude00é")"),
                 std::string("[]"), std::string("{}"), std::string(R"( [1, "a", {"b": [-1.5, false]}] )"),
                 std::string(R"({"$gb":"nan","":null})"), medium, large}) {
            const auto parsed = parseJson(text);
            const Json expected = Json::parse(text);
            QVERIFY2(parsed.has_value(), text.substr(0, 80).c_str());
            QVERIFY2(*parsed == expected, text.substr(0, 80).c_str());
            QCOMPARE(parsed->dump(), expected.dump());
            QCOMPARE(parsed->is_number_float(), expected.is_number_float());
        }
        for (const std::string& text :
            {std::string(""), std::string("01"), std::string("1e999"), std::string("nan"),
                std::string("[1,]"), std::string("{\"a\" 1}"), std::string("\"\\ud800\""),
                std::string("\"\t\""), std::string("'a'"), "{\"k3\":1" + members + "}"})
            QVERIFY2(!parseJson(text), text.substr(0, 80).c_str());
    }

    void idsAreUniqueAndSorted()
    {
        std::set<std::string> seen;
        for (int i = 0; i < 1000; ++i) {
            const std::string id = newId();
            QVERIFY(isId(id));
            QVERIFY(seen.insert(id).second);
        }
        QVERIFY(!isId("0190-not-an-id"));
        QVERIFY(!isId(std::string(36, 'A')));
        QCOMPARE(newToken().size(), std::size_t(43));
        QVERIFY(sameSecret("abc", "abc"));
        QVERIFY(!sameSecret("abc", "abd"));
        QVERIFY(!sameSecret("abc", ""));
        QVERIFY(!sameSecret("", "abc"));
        QVERIFY(!sameSecret("abcabc", "abc"));
    }

    void privateFoldersRefuseLinks()
    {
        const test::TemporaryFolder folder;
        const fs::path real = folder.path() / "real";
        QVERIFY(ensurePrivateDir(real).has_value());
        QVERIFY(ensurePrivateDir(real).has_value());
        fs::permissions(real, fs::perms::all);
        QVERIFY(ensurePrivateDir(real).has_value());
        QCOMPARE(static_cast<unsigned>(fs::status(real).permissions()), 0700U);
        fs::create_directory_symlink(real, folder.path() / "link");
        QCOMPARE(ensurePrivateDir(folder.path() / "link").error().code, std::string("io.not_private"));
    }

    void hashAndClock()
    {
        QCOMPARE(sha256Hex("abc"),
            std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        QCOMPARE(isoUtc(1769862896789), std::string("2026-01-31T12:34:56.789Z"));
    }

    void dataFolderFollowsTheEnvironment()
    {
        const test::TemporaryFolder folder;
        qputenv("GLOVEBOX_HOME", folder.path().c_str());
        QCOMPARE(dataFolder(), folder.path());
        const auto socket = daemonSocket(dataFolder());
        QVERIFY(socket.has_value());
        QVERIFY(socket->string().size() < 100);
        fs::remove(socket->parent_path());
        qunsetenv("GLOVEBOX_HOME");
    }
};

QTEST_GUILESS_MAIN(TestBase)
#include "tst_base.moc"
